/** The files that a command ingests: found in folders, typed by their names, and put into requests that a server takes. */
import { lstat, readdir, readFile, stat } from 'node:fs/promises'
import { basename, extname, join, resolve } from 'node:path'
import { UsageError } from '../exit.ts'

/** A file to ingest. `key` is its path relative to the folder that was named, or its name. */
interface FoundFile {
  readonly key: string
  readonly path: string
  readonly bytes: number
  readonly mediaType: string
}

/** What was found. `left`: the keys of files that hold no text, such as pictures. */
export interface FoundFiles {
  readonly files: readonly FoundFile[]
  readonly left: readonly string[]
}

/** A request has no more documents, and no more characters of base64. */
const mostDocuments = 1_000
const mostCharacters = 12_000_000
/** The base64 of a larger file is more than a server takes. */
const mostFileBytes = 12_000_000

/** The media types of files that hold text. Readers from code may read those that the readers of this version do not. */
const mediaTypes: Readonly<Record<string, string>> = {
  ...{ '.txt': 'text/plain', '.text': 'text/plain', '.log': 'text/plain', '.rst': 'text/plain', '.adoc': 'text/plain' },
  ...{ '.md': 'text/markdown', '.markdown': 'text/markdown', '.mdx': 'text/markdown' },
  ...{ '.html': 'text/html', '.htm': 'text/html', '.xhtml': 'text/html' },
  ...{ '.csv': 'text/csv', '.json': 'application/json', '.pdf': 'application/pdf', '.xml': 'application/xml' },
  ...{ '.rtf': 'application/rtf', '.epub': 'application/epub+zip', '.doc': 'application/msword' },
  '.docx': 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  '.xlsx': 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  '.pptx': 'application/vnd.openxmlformats-officedocument.presentationml.presentation',
  '.odt': 'application/vnd.oasis.opendocument.text',
}
const unknownType = 'application/octet-stream'

/**
 * The files at these paths, in the order of paths and then of names. In a folder links and what begins with a dot are left out. Throws
 * `UsageError` for a path where nothing is, and for two files with one key; the same file counts once.
 */
export async function findFiles(paths: readonly string[], folder: string): Promise<FoundFiles> {
  const files: FoundFile[] = []
  const left: string[] = []
  const places = new Map<string, string>()
  /** True if it is new: a file may be named twice, and stand in a folder that is named too. */
  const isNew = (key: string, path: string): boolean => {
    const other = places.get(key)
    if (other === path) return false
    if (other !== undefined)
      throw new UsageError(`"${other}" and "${path}" would both be "${key}".`, 'Name the folder above them.')
    places.set(key, path)
    return true
  }
  for (const name of paths) {
    const path = resolve(folder, name)
    const at = await stat(path).catch((error: unknown) => {
      throw unreadable(name, error)
    })
    if (!at.isDirectory()) {
      const key = basename(path)
      if (isNew(key, path)) files.push({ key, path, bytes: at.size, mediaType: typeOf(key) ?? unknownType })
      continue
    }
    for await (const key of keysBelow(path)) {
      const below = join(path, key)
      if (!isNew(key, below)) continue
      const mediaType = typeOf(key)
      if (mediaType === null) left.push(key)
      else files.push({ key, path: below, bytes: (await lstat(below)).size, mediaType })
    }
  }
  return { files, left }
}

function unreadable(name: string, error: unknown): UsageError {
  const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT'
  return new UsageError(
    `${isMissing ? 'There is no file' : 'Cannot read'} "${name}".`,
    'Is the path right, seen from here?',
  )
}

/** The files below a folder by name, each with its path from there, written with `/`. */
async function* keysBelow(folder: string, above = ''): AsyncGenerator<string> {
  const entries = await readdir(join(folder, above), { withFileTypes: true }).catch((error: unknown) => {
    throw unreadable(join(folder, above), error)
  })
  for (const entry of entries.sort((one, other) => (one.name < other.name ? -1 : 1))) {
    if (entry.name.startsWith('.')) continue
    const key = above === '' ? entry.name : `${above}/${entry.name}`
    if (entry.isDirectory()) yield* keysBelow(folder, key)
    else if (entry.isFile()) yield key
  }
}

function typeOf(name: string): string | null {
  const extension = extname(name).toLowerCase()
  return Object.hasOwn(mediaTypes, extension) ? (mediaTypes[extension] as string) : null
}

/** Divides files into groups that each fit into one request. */
export function batchesOf(files: readonly FoundFile[]): readonly (readonly FoundFile[])[] {
  const batches: FoundFile[][] = []
  let characters = 0
  for (const file of files) {
    const length = Math.ceil(file.bytes / 3) * 4
    const last = batches.at(-1)
    if (last === undefined || last.length === mostDocuments || characters + length > mostCharacters) {
      batches.push([file])
      characters = 0
    } else last.push(file)
    characters += length
  }
  return batches
}

/** A file as it is sent, or why it cannot be. */
type ReadFile =
  | { readonly key: string; readonly mediaType: string; readonly data: string }
  | { readonly key: string; readonly code: string; readonly detail: string }

/** Reads a file. It never rejects: what cannot be read fails alone. */
export async function readForIngest({ key, path, mediaType }: FoundFile): Promise<ReadFile> {
  const failed = (detail: string) => ({ key, code: 'DOCUMENT_UNREADABLE', detail })
  try {
    const { size } = await stat(path)
    if (size > mostFileBytes) return failed(`It has ${size} bytes, of ${mostFileBytes} at most.`)
    return { key, mediaType, data: (await readFile(path)).toString('base64') }
  } catch (error) {
    const { code = 'unknown reason' } = error as NodeJS.ErrnoException
    return failed(`The file cannot be read (${code}).`)
  }
}
