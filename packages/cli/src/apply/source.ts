/** Agents, knowledge bases and protocols as written: YAML or JSON from files, folders or standard input, each with the file and line of every key. */
import { readdir, readFile, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { text as readAll } from 'node:stream/consumers'
import { nearest } from '@witan/core/tooling'
import { isNumberAsText, parseExact } from '@witan/protocol/digits'
import { type Document, isMap, isScalar, isSeq, LineCounter, parseAllDocuments, type Scalar, visit } from 'yaml'
import { UsageError } from '../exit.ts'
import type { Terminal } from '../terminal.ts'

/** One agent, knowledge base or protocol as it was written. */
export interface Written {
  readonly kind: 'agent' | 'base' | 'protocol'
  readonly value: unknown
  /** The file and line of a key, such as `subAgents.0.agent`: `agents.yaml:12`. For a missing key, those of the nearest key above it. */
  place(path: string): string
}

/** Everything in these files, in order; `-` is standard input. Throws `UsageError` with file and line where one cannot be read. */
export async function readSources(names: readonly string[], terminal: Terminal): Promise<readonly Written[]> {
  const written: Written[] = []
  for (const name of names) {
    if (name === '-') written.push(...agentsIn(await readAll(terminal.input), 'standard input'))
    else
      for (const file of await filesAt(name, terminal.folder)) written.push(...(await readOne(file, terminal.folder)))
  }
  return written
}

async function readOne(file: string, folder: string): Promise<readonly Written[]> {
  const content = await readFile(resolve(folder, file), 'utf8').catch((error: unknown) => {
    throw unreadable(file, error)
  })
  return agentsIn(content, file)
}

/** The file itself, or every YAML and JSON file below the folder by name; what begins with a dot is left out. */
async function filesAt(name: string, folder: string): Promise<readonly string[]> {
  const path = resolve(folder, name)
  const found = await stat(path).catch((error: unknown) => {
    throw unreadable(name, error)
  })
  if (!found.isDirectory()) return [name]
  const files = (await readdir(path, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile() && /\.(?:ya?ml|json)$/i.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name).slice(path.length + 1))
    .filter((file) => !file.split('/').some((step) => step.startsWith('.') || step === 'node_modules'))
  if (files.length === 0) throw new UsageError(`"${name}" holds no .yaml, .yml or .json file.`, 'Name another folder.')
  return files.sort().map((file) => join(name, file))
}

function unreadable(name: string, error: unknown): UsageError {
  const why = (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'There is no file' : 'Cannot read'
  return new UsageError(`${why} "${name}".`, 'Is the path right, seen from here?')
}

/**
 * What one text has: JSON is read as the YAML that it is. A document is an agent or a protocol, a list of them, or
 * `{ agents: […], protocols: […], knowledge: […] }`. What has messages and no id is a protocol.
 */
export function agentsIn(content: string, file: string): readonly Written[] {
  const lines = new LineCounter()
  const documents = parseAllDocuments(content, { lineCounter: lines, prettyErrors: false, intAsBigInt: true })
  if (!Array.isArray(documents)) return []
  for (const document of documents) visit(document, { Scalar: (_, scalar) => keepDigits(scalar) })
  return documents.flatMap((document) => agentsOf(document, { file, content, lines }))
}

/** A number becomes what JSON makes of it, or text where JavaScript would change it. */
function keepDigits(scalar: Scalar): void {
  const { value, source = '' } = scalar
  if (typeof value === 'bigint') scalar.value = parseExact(String(value))
  else if (typeof value === 'number') scalar.value = isNumberAsText(source) || !Number.isFinite(value) ? source : value
}

interface Within {
  readonly file: string
  readonly content: string
  readonly lines: LineCounter
}

function agentsOf(document: Document, within: Within): readonly Written[] {
  const value = valueIn(document, within)
  if (value === null || value === undefined) return []
  if (Array.isArray(value)) return value.map((one, index) => written(document, within, { value: one, at: [index] }))
  const lists = typeof value === 'object' && !('id' in value) ? listsIn(value) : []
  if (lists.length === 0) return [written(document, within, { value, at: [] })]
  const stray = Object.keys(value).find((key) => !listKeys.some((known) => known === key))
  if (stray !== undefined)
    throw strayKey(stray, lists[0]?.key ?? 'agents', written(document, within, { value, at: [] }).place(stray))
  return lists.flatMap(({ key, kind, list }) =>
    list.map((one, index) => ({ ...written(document, within, { value: one, at: [key, index] }), kind })),
  )
}

const listKeys = ['agents', 'protocols', 'knowledge'] as const

/** The lists of a document, agents last: they name what is in the others. */
function listsIn(value: object) {
  const { agents, protocols, knowledge } = value as Readonly<Record<string, unknown>>
  return [
    ...(Array.isArray(protocols) ? [{ key: 'protocols', kind: 'protocol', list: protocols } as const] : []),
    ...(Array.isArray(knowledge) ? [{ key: 'knowledge', kind: 'base', list: knowledge } as const] : []),
    ...(Array.isArray(agents) ? [{ key: 'agents', kind: 'agent', list: agents } as const] : []),
  ]
}

function kindOf(value: unknown): Written['kind'] {
  const isProtocol = typeof value === 'object' && value !== null && 'messages' in value && !('id' in value)
  return isProtocol ? 'protocol' : 'agent'
}

function valueIn(document: Document, { file, content, lines }: Within): unknown {
  const [wrong] = [...document.errors, ...document.warnings]
  if (wrong !== undefined) {
    const place = `${file}:${lines.linePos(mistakeAt(document, content)).line}`
    throw new UsageError(`${place} cannot be read: ${wrong.message}.`, 'Correct it there. JSON is accepted too.')
  }
  try {
    return document.toJS()
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error)
    throw new UsageError(`${file} cannot be read: ${detail}.`, 'Write what its aliases stand for in full.')
  }
}

/** The position of the mistake; a YAML parser often notices it only at the next word, or at the end of the text. */
function mistakeAt({ errors, warnings }: Document, content: string): number {
  const [wrong] = [...errors, ...warnings]
  const [from = 0] = wrong?.pos ?? []
  const before = Math.max(0, content.slice(0, from).trimEnd().length - 1)
  if (wrong?.code === 'BLOCK_AS_IMPLICIT_KEY') {
    const key = errors.find(({ code, pos }) => code === 'MULTILINE_IMPLICIT_KEY' && pos[0] === from)
    return key === undefined ? from : key.pos[1] - 1
  }
  const isUnclosed = /^Flow |^Missing (?:,|closing)/.test(wrong?.message ?? '')
  return isUnclosed || from >= content.trimEnd().length ? before : from
}

function strayKey(key: string, list: string, place: string): UsageError {
  const near = nearest(key, ['id', ...listKeys])
  const hint =
    near === null ? 'Only "agents", "protocols" and "knowledge" stand beside each other.' : `Did you mean "${near}"?`
  return new UsageError(`${place} has the key "${key}" beside "${list}".`, hint)
}

function written(
  document: Document,
  { file, lines }: Within,
  { value, at }: { readonly value: unknown; readonly at: readonly (string | number)[] },
): Written {
  return {
    kind: kindOf(value),
    value,
    place(path) {
      const steps = [...at.map(String), ...path.split('.').filter((step) => step !== '')]
      return `${file}:${lines.linePos(offsetOf(document.contents, steps)).line}`
    },
  }
}

/** The position of the deepest key of the path that exists. */
function offsetOf(contents: unknown, steps: readonly string[]): number {
  let node = contents
  let offset = startOf(node) ?? 0
  for (const step of steps) {
    let next: unknown
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => String(isScalar(key) ? key.value : key) === step)
      offset = startOf(pair?.key) ?? offset
      next = pair?.value
    } else if (isSeq(node)) {
      next = node.items[Number(step)]
      offset = startOf(next) ?? offset
    }
    if (next === undefined) return offset
    node = next
  }
  return offset
}

function startOf(node: unknown): number | undefined {
  const { range } = (node ?? {}) as { readonly range?: readonly [number, number, number] | null }
  return range?.[0]
}
