/** Sends files to a knowledge base, follows how they are read, and deletes what the files do not have. */
import { type Client, isWitanError } from '@witan/client'
import type { Ingest, KnowledgeDocumentInput, StoredKnowledgeBase } from '@witan/protocol/knowledge'
import { UsageError } from '../exit.ts'
import { batchesOf, type FoundFiles, readForIngest } from './files.ts'

/** What became of the files. */
export interface Ingested {
  readonly added: number
  readonly changed: number
  readonly unchanged: number
  readonly deleted: number
  readonly failed: Ingest['failed']
  /** The keys of files that are in the base and in which no text was found: no search finds them. */
  readonly empty: readonly string[]
}

type Attributes = NonNullable<KnowledgeDocumentInput['attributes']>

/** What is ingested, and where. */
interface IngestPlan {
  readonly base: string
  readonly found: FoundFiles
  readonly attributes: Attributes
  /** Stands before each key. */
  readonly prefix: string
}

/** Sends all files, one request after the other. `show` is called with how far it is. */
export async function ingestFiles(
  client: Client,
  plan: IngestPlan,
  show: (text: string) => void,
): Promise<Omit<Ingested, 'deleted'>> {
  const { base, found, attributes, prefix } = plan
  const sum = { added: 0, changed: 0, unchanged: 0 }
  const failed: Ingest['failed'][number][] = []
  let before = 0
  for (const batch of batchesOf(found.files)) {
    const documents: KnowledgeDocumentInput[] = []
    for (const file of batch) {
      const read = await readForIngest({ ...file, key: prefix + file.key })
      if ('data' in read) documents.push({ ...read, attributes })
      else failed.push(read)
    }
    const progress = ({ done }: Ingest) => show(`read ${before + done} of ${found.files.length} files`)
    const ended = documents.length === 0 ? null : await ingested(client, { base, documents }, progress)
    for (const name of ['added', 'changed', 'unchanged'] as const) sum[name] += ended?.[name] ?? 0
    failed.push(...(ended?.failed ?? []))
    before += batch.length
  }
  return { ...sum, failed, empty: await emptyOf(client, plan) }
}

/** The files of the base that have no passages. */
async function emptyOf(client: Client, { base, found, prefix }: IngestPlan): Promise<readonly string[]> {
  const keys = new Set(found.files.map(({ key }) => prefix + key))
  const empty: string[] = []
  if (keys.size === 0) return empty
  for await (const { key, passages } of client.knowledge.documents.all(base, { prefix: commonStart(keys), limit: 200 }))
    if (passages === 0 && keys.has(key)) empty.push(key)
  return empty
}

/** What all of them begin with, so that a list shows few others. */
function commonStart(keys: Iterable<string>): string {
  const [first = '', ...others] = keys
  let length = first.length
  for (const other of others) while (!other.startsWith(first.slice(0, length))) length -= 1
  return first.slice(0, length)
}

/** Resolves with an ingest that has ended. */
async function ingested(
  client: Client,
  { base, documents }: { readonly base: string; readonly documents: readonly KnowledgeDocumentInput[] },
  progress: (ingest: Ingest) => void,
): Promise<Ingest> {
  let ingest = await client.knowledge.documents.ingest(base, documents, { wait: false })
  progress(ingest)
  if (ingest.status === 'completed') return ingest
  for await (const now of client.knowledge.ingests.follow(base, ingest.id)) {
    ingest = now
    progress(ingest)
  }
  return ingest
}

/**
 * The keys of documents below the prefix that are not among the files. A request names at most 1,000 documents, so what more files do not
 * have is found by the list of the base.
 */
export async function goneOf(client: Client, { base, found, prefix }: IngestPlan): Promise<readonly string[]> {
  const keys = new Set([...found.files.map(({ key }) => key), ...found.left].map((key) => prefix + key))
  const gone: string[] = []
  for await (const { key } of client.knowledge.documents.all(base, { prefix, limit: 200 }))
    if (!keys.has(key)) gone.push(key)
  return gone
}

/** Deletes documents; one that is deleted already is passed over. Resolves with how many it deleted. */
export async function deleteDocuments(
  client: Client,
  { base, keys }: { readonly base: string; readonly keys: readonly string[] },
  show: (text: string) => void,
): Promise<number> {
  let deleted = 0
  for (const [index, key] of keys.entries()) {
    show(`deleted ${index} of ${keys.length} documents`)
    try {
      await client.knowledge.documents.delete(base, key)
      deleted += 1
    } catch (error) {
      if (!isWitanError(error) || error.code !== 'NOT_FOUND') throw error
    }
  }
  return deleted
}

/** Attributes as `name=value`, in the types that the base declares; a list is named once for each of its values. */
export function attributesOf(base: StoredKnowledgeBase, words: readonly string[], option: string): Attributes {
  const attributes: Attributes = {}
  for (const word of words) {
    const at = word.indexOf('=')
    if (at < 1) throw new UsageError(`--${option} ${word} is no name and value.`, `Write --${option} name=value.`)
    const [name, text] = [word.slice(0, at), word.slice(at + 1)]
    const type = Object.hasOwn(base.attributes, name) ? base.attributes[name] : undefined
    if (type === undefined) throw new UsageError(`"${base.id}" declares no attribute "${name}".`, declaredIn(base))
    const before = Object.hasOwn(attributes, name) ? attributes[name] : undefined
    if (type !== 'string[]' && before !== undefined)
      throw new UsageError(`The attribute "${name}" is there twice.`, 'Keep one of the two.')
    attributes[name] =
      type === 'string[]' ? [...((before as string[] | undefined) ?? []), text] : typed(type, name, text)
  }
  return attributes
}

function typed(type: 'string' | 'number' | 'boolean', name: string, text: string): string | number | boolean {
  if (type === 'string') return text
  const value: unknown =
    type === 'number' ? (text.trim() === '' ? Number.NaN : Number(text)) : { true: true, false: false }[text]
  if (typeof value === 'boolean' || Number.isFinite(value)) return value as number | boolean
  throw new UsageError(
    `The attribute "${name}" is a ${type}, and "${text}" is none.`,
    `Write ${name}=${type === 'number' ? '7' : 'true'}.`,
  )
}

function declaredIn({ attributes }: StoredKnowledgeBase): string {
  const names = Object.keys(attributes)
  return names.length === 0 ? 'It has none.' : `It has ${names.join(', ')}.`
}
