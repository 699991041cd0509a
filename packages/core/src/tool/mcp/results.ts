/** What a model reads of the answer to a call of an MCP server's tool. The answer may hold anything: nothing in it makes this throw. */
import { isWitanError } from '@witan/protocol'
import { sizeText } from '@witan/protocol/files'
import { shownName } from '@witan/protocol/names'
import { jsonDepth, maxJsonDepth } from '@witan/protocol/schemas'
import { jsonText } from '../../identity/json-pieces.ts'
import { pause } from '../../identity/turn.ts'
import { validatorOf } from '../../model/json-schema.ts'
import { cutTo } from '../../parameter/scrub.ts'
import type { ArtifactDraft } from '../artifact.ts'
import { MOST_RESULT_CHARACTERS } from '../outcome.ts'
import type { JsonSchema } from '../schema.ts'
import type { McpAnswer } from './mcp.ts'
import { bytesOf, madeName, mediaTypeOf, nameIn } from './result-files.ts'

/** A size as short as it can be said: `12 kB`. */
function sizeOf(bytes: number): string {
  return sizeText(bytes).replace('.0 ', ' ')
}

/** How an answer is read. */
export interface Reading {
  readonly outputSchema: JsonSchema | null
  readonly maxCharacters: number
  /** Saves a file as an artifact and resolves with its id. What it throws for a file that cannot be saved is written in place of the file. */
  save(draft: ArtifactDraft): Promise<string>
}

/** What a model reads. */
interface ReadResult {
  readonly isError: boolean
  /** A text, always so for an error; or JSON. */
  readonly value: unknown
  /** Why the structured part does not fit the schema of the tool, in words without a full stop; null if it does, or there is none. */
  readonly misfit: string | null
  /** Whether the value is only the beginning. It then names the artifact that holds the whole. */
  readonly isCut: boolean
}

type Result = McpAnswer & { readonly kind: 'result' }
type Content = Readonly<Record<string, unknown>>

/** What a cut leaves for its mark, and for the mention of the artifact. */
const markRoom = 1_000
/** An error text is shorter: it is read again with each step of its run. */
const mostErrorCharacters = 16_000

/**
 * Reads an answer as §2 of the contract says. Files are saved first and named in the text; no base64 of theirs is in the value. Rejects only if saving
 * fails for a reason other than the file.
 */
export async function readResult(answer: Result, reading: Reading): Promise<ReadResult> {
  const { isError } = answer
  const structured = answer.structuredContent ?? null
  const written = await contentOf(answer.content, reading)
  const limit = Math.min(reading.maxCharacters, (isError ? mostErrorCharacters : MOST_RESULT_CHARACTERS) - markRoom)
  const asText = async (text: string) => ({ isError, ...(await within(text, { limit, name: 'result.txt' }, reading)) })
  if (isError) {
    const said = written.all !== '' ? written.all : structured === null ? '' : await jsonText(structured)
    return { misfit: null, ...(await asText(said.trim() === '' ? 'the tool failed and does not say why' : said)) }
  }
  if (structured === null) return { misfit: null, ...(await asText(written.all)) }
  const misfit = misfitOf(structured, reading.outputSchema)
  if (misfit !== null && written.all !== '') return { misfit, ...(await asText(written.all)) }
  if (written.texts !== '' && isOnly(structured, written.texts)) return { misfit, ...(await asText(written.all)) }
  const json = await jsonText(structured)
  const beside = written.others === '' ? '' : `\n${written.others}`
  if (beside === '' && json.length <= limit && jsonDepth(json) <= maxJsonDepth)
    return { isError, misfit, value: structured, isCut: false }
  const shown = await within(json, { limit, name: 'result.json' }, reading)
  const rest = cutTo(beside, limit)
  return { isError, misfit, value: `${shown.value}${rest}`, isCut: shown.isCut || rest !== beside }
}

/** Whether a value is an object whose only property is this text. */
function isOnly(value: unknown, text: string): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  let count = 0
  for (const name in value) {
    count += 1
    if (count > 1 || (value as Content)[name] !== text) return false
  }
  return count === 1
}

const longestMisfit = 200

function misfitOf(value: unknown, schema: JsonSchema | null): string | null {
  const [issue] = schema === null ? [] : validatorOf(schema).issuesOf(value)
  if (issue === undefined) return null
  const shown = shownName(issue.slice(0, longestMisfit).toWellFormed())
  return issue.length > longestMisfit ? `${shown}…` : shown
}

/** A text up to the limit. Of a longer one the whole is saved, and named behind the mark of the cut. */
async function within(
  text: string,
  { limit, name }: { readonly limit: number; readonly name: string },
  { save }: Reading,
): Promise<{ readonly value: string; readonly isCut: boolean }> {
  if (text.length <= limit) return { value: text, isCut: false }
  const mediaType = name.endsWith('.json') ? 'application/json' : 'text/plain'
  const saved = await tried(() => save({ name, mediaType, text: text.toWellFormed() }))
  const mention = saved.ok ? ` ${mentionOf(saved.id, { name, mediaType, bytes: Buffer.byteLength(text) })}` : ''
  return { value: `${cutTo(text, limit)}${mention}`, isCut: true }
}

/** The parts of an answer as text: all of them, the texts alone, and what is no text. */
interface Written {
  readonly all: string
  readonly texts: string
  readonly others: string
}

/** So many files of one answer are saved, and so many parts that are no text are shown: the mention of an empty part is longer than the part. */
const mostFiles = 20
const mostOthers = 500

/** Parts between two pauses. */
const atOnce = 64

async function contentOf(content: readonly Content[], reading: Reading): Promise<Written> {
  const all: string[] = []
  const texts: string[] = []
  const others: string[] = []
  const files: Files = { saved: 0 }
  let leftOut = 0
  for (const [at, given] of content.entries()) {
    if (at % atOnce === 0) await pause()
    const part = typeof given === 'object' && given !== null ? given : {}
    if (part['type'] === 'text' && typeof part['text'] === 'string') {
      texts.push(part['text'])
      all.push(part['text'])
    } else if (others.length >= mostOthers) leftOut += 1
    else {
      const shown = await otherPart(part, files, reading)
      others.push(shown)
      all.push(shown)
    }
  }
  if (leftOut > 0) {
    const more = `[${leftOut} more parts left out]`
    others.push(more)
    all.push(more)
  }
  return { all: all.join('\n'), texts: texts.join('\n'), others: others.join('\n') }
}

interface Files {
  saved: number
}

/** A part that is no text. */
async function otherPart(part: Content, files: Files, reading: Reading): Promise<string> {
  const { type } = part
  if (type === 'image' || type === 'audio')
    return fileText({ what: type, data: part['data'], mediaType: part['mimeType'], name: null }, files, reading)
  if (type === 'resource_link') {
    const shown = [uriText(part['uri']), wordText(part['name']), wordText(part['mimeType'])].filter((one) => one !== '')
    return `[link ${shown.join(' ')}]`
  }
  if (type !== 'resource') return `[a part of unknown type ${wordText(type) || 'without a name'} left out]`
  const { resource } = part
  if (typeof resource !== 'object' || resource === null) return '[resource without content left out]'
  const { uri, text, blob, mimeType: mediaType } = resource as Content
  if (typeof text === 'string') return `[resource ${uriText(uri)}]\n${text}`
  const name = typeof uri === 'string' ? nameIn(uri) : null
  return fileText({ what: 'file', data: blob, mediaType, name }, files, reading)
}

interface GivenFile {
  readonly what: 'image' | 'audio' | 'file'
  readonly data: unknown
  readonly mediaType: unknown
  readonly name: string | null
}

/** Saves a file, and says in its place where it is, or why it is not kept. */
async function fileText(
  { what, data, mediaType: given, name: own }: GivenFile,
  files: Files,
  { save }: Reading,
): Promise<string> {
  if (files.saved >= mostFiles) return `[${what} left out: at most ${mostFiles} files of a result are kept]`
  const bytes = typeof data === 'string' ? bytesOf(data) : null
  if (bytes === null || bytes.length === 0)
    return `[${what} left out: ${bytes === null ? 'its data is not base64' : 'it is empty'}]`
  files.saved += 1
  const mediaType = mediaTypeOf(given)
  const name = own ?? madeName(what, files.saved, mediaType)
  const saved = await tried(() => save({ name, mediaType, bytes }))
  const file = { name, mediaType, bytes: bytes.length }
  return saved.ok ? mentionOf(saved.id, file) : `[${what} ${name} ${sizeOf(bytes.length)} left out: ${saved.why}]`
}

/** Whether a file could be saved; what is wrong with the file itself is no error of ours. */
async function tried(
  save: () => Promise<string>,
): Promise<{ readonly ok: true; readonly id: string } | { readonly ok: false; readonly why: string }> {
  try {
    return { ok: true, id: await save() }
  } catch (error) {
    if (!isWitanError(error)) throw error
    if (error.code === 'ARTIFACT_TOO_LARGE') return { ok: false, why: 'it is too large' }
    if (error.code === 'BODY_INVALID') return { ok: false, why: 'it cannot be kept' }
    throw error
  }
}

function mentionOf(
  id: string,
  { name, mediaType, bytes }: { readonly name: string; readonly mediaType: string; readonly bytes: number },
): string {
  return `[artifact ${id} ${name} ${mediaType} ${sizeOf(bytes)}]`
}

const longestUri = 500
const longestWord = 200

/** What a server wrote, within a mark: on one line, without the brackets that would end it. */
function inMark(text: string, most: number): string {
  const start = text.slice(0, most).toWellFormed()
  const shown = shownName(start).replaceAll('[', '(').replaceAll(']', ')').trim()
  return text.length > most ? `${shown}…` : shown
}

function wordText(given: unknown): string {
  return typeof given === 'string' ? inMark(given, longestWord) : ''
}

/** The data of a `data:` URI is left out. */
function uriText(given: unknown): string {
  if (typeof given !== 'string') return 'without an address'
  const [, head] = /^\s*(data:[^,]{0,100})/i.exec(given.slice(0, longestUri)) ?? []
  return head === undefined ? inMark(given, longestUri) : `${inMark(head, longestUri)},…`
}
