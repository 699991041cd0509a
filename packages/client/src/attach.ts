/** Files for a prompt. */
import { WitanError } from '@witan/protocol'
import { type FilePart, fileLimits, mediaTypePattern } from '@witan/protocol/files'
import { mediaTypeOf } from './media-type.ts'

/** What a file is called, and its media type such as `image/png`. Default: what a `File` says, else what the content shows. */
export interface AttachOptions {
  readonly name?: string
  readonly mediaType?: string
}

/**
 * A file as a part of a prompt: `chat.run([{ type: 'text', text: 'What is this?' }, await attach(file)])`. Takes what a browser's file
 * field gives, or bytes. Of a name it keeps what the server takes. Throws `ATTACHMENT_TOO_LARGE` above 5 MiB, and `BODY_INVALID` for an
 * empty file [Rb53].
 */
export async function attach(content: Blob | Uint8Array, options: AttachOptions = {}): Promise<FilePart> {
  const size = content instanceof Uint8Array ? content.byteLength : content.size
  const given = options.name ?? (content instanceof Blob && 'name' in content ? String(content.name) : '')
  const name = plainName(given)
  assertSize(size, name)
  const bytes = content instanceof Uint8Array ? content : new Uint8Array(await content.arrayBuffer())
  const typed = options.mediaType ?? (content instanceof Blob ? content.type : '')
  const [type = ''] = typed.toLowerCase().split(';')
  const mediaType = mediaTypePattern.test(type.trim()) ? type.trim() : mediaTypeOf(name, bytes)
  return { type: 'file', mediaType, data: base64(bytes), ...(name === '' ? {} : { name }) }
}

function assertSize(size: number, name: string): void {
  const what = name === '' ? 'The file' : `The file \`${name}\``
  if (size === 0)
    throw new WitanError('BODY_INVALID', `${what} is empty.`, { path: 'prompt', hint: 'Attach a file with content.' })
  if (size <= fileLimits.fileBytes) return
  const detail = `${what} has ${size} bytes; the limit is ${fileLimits.fileBytes} bytes.`
  throw new WitanError('ATTACHMENT_TOO_LARGE', detail, { path: 'prompt', hint: 'Attach a smaller file.' })
}

/** A name without its path and without characters that do not show. */
function plainName(given: string): string {
  const [last = ''] = given.split(/[/\\]/).slice(-1)
  const shown = last.replace(/[\p{Cc}\p{Cs}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]/gu, '')
  return shown === '.' || shown === '..' ? '' : shown.slice(-200).replace(/^\p{Cs}/u, '')
}

/** Encodes the bytes in pieces, because the number of arguments of a function call is limited. */
function base64(bytes: Uint8Array): string {
  const pieces: string[] = []
  for (let from = 0; from < bytes.byteLength; from += 24_576)
    pieces.push(btoa(String.fromCharCode(...bytes.subarray(from, from + 24_576))))
  return pieces.join('')
}
