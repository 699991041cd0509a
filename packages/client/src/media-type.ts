/** The media type of a file, from its content and its name. */

/** How content of a type begins: at an offset, these bytes. */
const beginnings: readonly (readonly [type: string, offset: number, bytes: string])[] = [
  ['image/png', 0, '89504e470d0a1a0a'],
  ['image/jpeg', 0, 'ffd8ff'],
  ['image/gif', 0, '474946383761'],
  ['image/gif', 0, '474946383961'],
  ['image/webp', 8, '57454250'],
  ['audio/wav', 8, '57415645'],
  ['audio/mpeg', 0, '494433'],
  ['application/pdf', 0, '255044462d'],
]

const extensions: Readonly<Record<string, string>> = {
  avif: 'image/avif',
  bmp: 'image/bmp',
  css: 'text/css',
  csv: 'text/csv',
  gif: 'image/gif',
  heic: 'image/heic',
  htm: 'text/html',
  html: 'text/html',
  jpeg: 'image/jpeg',
  jpg: 'image/jpeg',
  js: 'text/javascript',
  json: 'application/json',
  jsonl: 'application/x-ndjson',
  log: 'text/plain',
  md: 'text/markdown',
  mp3: 'audio/mpeg',
  mp4: 'video/mp4',
  ogg: 'audio/ogg',
  pdf: 'application/pdf',
  png: 'image/png',
  sql: 'application/sql',
  svg: 'image/svg+xml',
  tsv: 'text/tab-separated-values',
  txt: 'text/plain',
  wav: 'audio/wav',
  webm: 'video/webm',
  webp: 'image/webp',
  xml: 'application/xml',
  yaml: 'application/yaml',
  yml: 'application/yaml',
  zip: 'application/zip',
}

/** The media type that the content shows, else that of the name's extension, else plain text or bytes. */
export function mediaTypeOf(name: string, bytes: Uint8Array): string {
  const begins = ([, offset, beginning]: (typeof beginnings)[number]) =>
    hex(bytes.subarray(offset, offset + beginning.length / 2)) === beginning
  const shown = beginnings.find(begins)?.[0]
  const extension = /\.([a-z0-9]+)$/i.exec(name)?.[1]?.toLowerCase() ?? ''
  const named = Object.hasOwn(extensions, extension) ? extensions[extension] : undefined
  return shown ?? named ?? (isText(bytes) ? 'text/plain' : 'application/octet-stream')
}

function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

function isText(bytes: Uint8Array): boolean {
  if (bytes.includes(0)) return false
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return true
  } catch {
    return false
  }
}
