/** Documents made of chosen files, and the requests that they go in. */
import type { AttributeValue, KnowledgeDocumentInput } from '@witan/protocol/knowledge'

/** What a browser says of a file by its name alone is of use for few: these are the types that every server reads. */
const types: Readonly<Record<string, string>> = {
  txt: 'text/plain',
  text: 'text/plain',
  log: 'text/plain',
  md: 'text/markdown',
  markdown: 'text/markdown',
  html: 'text/html',
  htm: 'text/html',
  csv: 'text/csv',
  json: 'application/json',
  pdf: 'application/pdf',
}

/** The endings that a choice of files offers. */
export const offeredEndings = Object.keys(types)
  .map((ending) => `.${ending}`)
  .join(',')

/** The media types of a text that is typed. */
export const textTypes = ['text/plain', 'text/markdown', 'text/html', 'text/csv', 'application/json'] as const

/** A file has at most so many bytes: in base64 it must fit into a request of 16 MiB. */
export const mostFileBytes = 11 * 1024 * 1024

/** The media type of a file: by its ending, else what the browser says, else of an unknown file. */
export function mediaTypeOf({ name, type }: { readonly name: string; readonly type: string }): string {
  const ending = name.split('.').at(-1)?.toLowerCase() ?? ''
  const known = Object.hasOwn(types, ending) ? types[ending] : undefined
  return known ?? (type || 'application/octet-stream')
}

/** A file as a document: in base64, so that the server decides how its characters are read. Rejects for one that cannot be read. */
export async function documentOf(
  file: File,
  { prefix, attributes }: { readonly prefix: string; readonly attributes: Readonly<Record<string, AttributeValue>> },
): Promise<KnowledgeDocumentInput> {
  const bytes = new Uint8Array(await file.arrayBuffer())
  return {
    key: `${prefix}${file.name}`,
    mediaType: mediaTypeOf(file),
    data: base64(bytes),
    attributes: { ...attributes },
  }
}

/** Bytes as base64, which no limit on texts in JSON concerns. In pieces, because the number of arguments of a function call is limited. */
export function base64(bytes: Uint8Array): string {
  const pieces: string[] = []
  for (let from = 0; from < bytes.byteLength; from += 24_576)
    pieces.push(btoa(String.fromCharCode(...bytes.subarray(from, from + 24_576))))
  return pieces.join('')
}

const mostDocuments = 1_000
const mostCharacters = 15_500_000

/** The documents in requests that a server takes: at most 1,000 in each, and fewer than 16 MiB. */
export function requestsOf(
  documents: readonly KnowledgeDocumentInput[],
): readonly (readonly KnowledgeDocumentInput[])[] {
  const requests: KnowledgeDocumentInput[][] = []
  let characters = 0
  for (const document of documents) {
    const size = sizeOf(document)
    const last = requests.at(-1)
    if (last === undefined || last.length === mostDocuments || characters + size > mostCharacters) {
      requests.push([document])
      characters = size
    } else {
      last.push(document)
      characters += size
    }
  }
  return requests
}

/** At least what it takes in a request. */
function sizeOf({ data, ...rest }: KnowledgeDocumentInput): number {
  return (data?.length ?? 0) + new TextEncoder().encode(JSON.stringify(rest)).length + 20
}
