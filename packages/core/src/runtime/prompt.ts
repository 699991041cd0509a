/** What a prompt says: its text, and its files, which are checked and stored before the message that refers to them [Rb53]. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Prompt, WitanError } from '@witan/protocol'
import { type FilePart, type FileReference, fileLimits, sizeText } from '@witan/protocol/files'
import { decodeBase64 } from '../identity/base64.ts'
import { takenText, takesType } from '../model/files.ts'
import { digestOf } from '../store/contents.ts'
import type { Scope } from './scope.ts'

/** The text of a prompt: its texts, one per line. */
export function textOf(prompt: Prompt): string {
  if (typeof prompt === 'string') return prompt
  return prompt.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
}

/** A file of a prompt, and its position there. */
export interface SentFile {
  readonly part: FilePart
  readonly path: string
}

/** The files of a prompt, not checked yet; nothing without any. */
export function filesIn(prompt: Prompt): { readonly sent?: readonly SentFile[] } {
  if (typeof prompt === 'string' || prompt.every(({ type }) => type === 'text')) return {}
  const sent = prompt.flatMap((part, index) => (part.type === 'file' ? [{ part, path: `prompt.${index}` }] : []))
  return { sent }
}

/**
 * Stores the files of a message for an agent, and returns how the message refers to them. Throws `ATTACHMENT_TOO_LARGE`,
 * `BODY_INVALID`, and `MEDIA_TYPE_UNSUPPORTED` if the agent's model says that it does not take one; then nothing is stored.
 */
export async function storeFiles(
  scope: Scope,
  agent: string,
  sent: readonly SentFile[],
): Promise<readonly FileReference[]> {
  const { parts, database } = scope
  const contents = await readFiles(scope, agent, sent)
  const files: FileReference[] = []
  for (const [at, { part }] of sent.entries()) {
    await nextTurn()
    const bytes = contents[at] as Uint8Array
    const digest = digestOf(bytes)
    await parts.store.putContent(database, digest, bytes)
    files.push({ digest, mediaType: part.mediaType, bytes: bytes.byteLength, name: part.name ?? null })
  }
  return files
}

/** The bytes of the files of a message. Throws as `storeFiles` does, and stores nothing. */
export async function readFiles(
  scope: Scope,
  agent: string,
  sent: readonly SentFile[],
): Promise<readonly Uint8Array[]> {
  refuseMany(sent)
  refuseForeign(scope, agent, sent)
  const contents: Uint8Array[] = []
  for (const one of sent) {
    await nextTurn() // several MB take some milliseconds at each step: other work goes on in between
    contents.push(bytesOf(one))
  }
  return contents
}

/** Judges by the length of the base64, before anything is decoded. */
function refuseMany(sent: readonly SentFile[]): void {
  const { files, fileBytes, messageBytes } = fileLimits
  if (sent.length > files)
    throw tooLarge('prompt', `A message has at most ${files} files; this one has ${sent.length}.`)
  let sum = 0
  for (const { part, path } of sent) {
    const bytes =
      Math.floor((part.data.length * 3) / 4) - (part.data.endsWith('==') ? 2 : part.data.endsWith('=') ? 1 : 0)
    const limit = `the limit is ${fileBytes} bytes (${sizeText(fileBytes)})`
    if (bytes > fileBytes) throw tooLarge(`${path}.data`, `The file has ${bytes} bytes; ${limit}.`)
    sum += bytes
  }
  const limit = `the limit is ${messageBytes} bytes (${sizeText(messageBytes)})`
  if (sum > messageBytes) throw tooLarge('prompt', `The files of the message have ${sum} bytes together; ${limit}.`)
}

function tooLarge(path: string, detail: string): WitanError {
  return new WitanError('ATTACHMENT_TOO_LARGE', detail, { path, hint: 'Send a smaller file, or fewer in one message.' })
}

function refuseForeign({ parts, database }: Scope, agent: string, sent: readonly SentFile[]): void {
  const name = parts.env.pin(database, agent)?.data.model
  const model = name === undefined ? null : parts.env.model(name)
  if (model === null) return // the run itself says so
  const foreign = sent.find(({ part }) => !takesType(model, part.mediaType))
  if (foreign === undefined) return
  const { part, path } = foreign
  const detail = `Model \`${name}\` of agent \`${agent}\` does not take files of type \`${part.mediaType}\`. ${takenText(model)}`
  throw new WitanError('MEDIA_TYPE_UNSUPPORTED', detail, {
    path: `${path}.mediaType`,
    hint: 'Use an agent whose model reads such files, or send the message without the file.',
  })
}

function bytesOf({ part, path }: SentFile): Uint8Array {
  const bytes = decodeBase64(part.data)
  if (bytes !== null && bytes.byteLength > 0) return bytes
  throw new WitanError('BODY_INVALID', `\`${path}.data\` is not base64.`, {
    path: `${path}.data`,
    hint: 'Encode the bytes as standard base64 with padding, without line breaks and without a `data:` prefix.',
  })
}
