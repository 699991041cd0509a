/** The files in what a tool of an MCP server gives: their bytes, names and media types, none of which is believed. */
import { fileNameProblem, mediaTypePattern } from '@witan/protocol/files'
import { withoutHidden } from '@witan/protocol/shown'

/**
 * The bytes of base64; null for anything else. Blanks are passed over, and padding may be missing, since servers write both. The letters of URLs are taken
 * too.
 */
export function bytesOf(data: string): Uint8Array | null {
  return decoded(data) ?? (/\s/.test(data) ? decoded(data.replace(/\s+/g, '')) : null)
}

function decoded(data: string): Uint8Array | null {
  const padding = data.endsWith('==') ? 2 : data.endsWith('=') ? 1 : 0
  const letters = data.length - padding
  if (letters % 4 === 1) return null
  const bytes = Buffer.from(data, 'base64')
  // A character that is none of base64 is passed over, or ends what is read: then there are fewer bytes.
  if (bytes.length !== Math.floor((letters * 3) / 4)) return null
  return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

const unknownType = 'application/octet-stream'

/** A media type in lower case and without parameters; `application/octet-stream` for what is none. */
export function mediaTypeOf(given: unknown): string {
  if (typeof given !== 'string' || given.length > 1000) return unknownType
  const plain = (given.split(';')[0] ?? '').trim().toLowerCase()
  return mediaTypePattern.test(plain) ? plain : unknownType
}

const endings: Readonly<Record<string, string>> = {
  'application/json': 'json',
  'application/pdf': 'pdf',
  'application/zip': 'zip',
  'audio/mpeg': 'mp3',
  'audio/ogg': 'ogg',
  'audio/wav': 'wav',
  'audio/x-wav': 'wav',
  'image/gif': 'gif',
  'image/jpeg': 'jpg',
  'image/png': 'png',
  'image/svg+xml': 'svg',
  'image/webp': 'webp',
  'text/csv': 'csv',
  'text/html': 'html',
  'text/markdown': 'md',
  'text/plain': 'txt',
}

/** The name of a file without one, such as `image-1.png`. */
export function madeName(kind: string, at: number, mediaType: string): string {
  return `${kind}-${at}.${Object.hasOwn(endings, mediaType) ? endings[mediaType] : 'bin'}`
}

const longestName = 100

/** The last part of a URI's path as the name of a file: letters, digits, `.`, `_`, `-` and spaces; null if nothing of it is left. */
export function nameIn(uri: string): string | null {
  const path = uri.slice(0, 4_000).split(/[?#]/)[0] ?? ''
  const last = /^data:/i.test(path) ? '' : (path.split(/[/\\]/).at(-1) ?? '')
  const name = withoutHidden(unescaped(last))
    .split(/[/\\]/)
    .at(-1)
    ?.replace(/[^\p{L}\p{N}._ -]+/gu, '_')
    .slice(-longestName)
    .replace(/^[\udc00-\udfff]/, '')
    .replace(/^[. _]+|[. _]+$/g, '')
  return name === undefined || name === '' || fileNameProblem(name) !== null ? null : name
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
