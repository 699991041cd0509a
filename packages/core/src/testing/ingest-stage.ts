/** Ingests on a store of their own, for tests beside `ingest/`: with a reader whose texts say what becomes of them. */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { type KnowledgeBase, knowledgeBaseSchema } from '@witan/protocol/knowledge'
import { type Clock, systemClock } from '../identity/clock.ts'
import { createIngests, type Ingests } from '../ingest/ingests.ts'
import type { Embed } from '../ingest/read-document.ts'
import type { DocumentReader, ReadDocument } from '../knowledge/document.ts'
import { memoryStore } from '../store/drivers/memory.ts'
import type { KnowledgeRecords } from '../knowledge/records.ts'
import type { Store } from '../store/store.ts'

/** A signal that never aborts. */
export const never: AbortSignal = new AbortController().signal
/** The base of these tests. */
export const base = knowledgeBaseSchema.parse({ id: 'b', passageCharacters: 200 })
/** Where the base is. */
export const place = { database: 'default', base: 'b' }

/** What a reader gives for these texts, which is no document. */
export const garbage: Readonly<Record<string, unknown>> = {
  'no blocks': { title: null },
  'odd blocks': { title: null, blocks: [{ kind: 'paragraph', text: 5 }] },
  'odd title': { title: {}, blocks: [] },
}
/** What a lax reader gives is taken. */
const lax = { blocks: [{ kind: 'heading', level: 9, text: 'Deep' }] }

/** Reads a text as one paragraph for each line; `bad` cannot be read, `stuck` waits for an abort, `deaf` for ever. Counts what it has read. */
export function lineReader(gate?: Promise<void>): DocumentReader & { readonly texts: readonly string[] } {
  const texts: string[] = []
  const read = async (content: Uint8Array, _: string, signal: AbortSignal) => {
    const text = Buffer.from(content).toString()
    texts.push(text)
    if (text === 'stuck')
      await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }))
    if (text === 'deaf') await new Promise(() => {})
    if (text === 'gated') await gate
    if (text === 'bad') throw new Error('It is bad.')
    const odd = text === 'lax' ? lax : garbage[text]
    if (odd !== undefined) return odd as ReadDocument
    const blocks = text.split('\n').map((line) => ({ kind: 'paragraph', text: line }) as const)
    return { title: null, blocks }
  }
  return { mediaTypes: ['text/plain'], read, close: async () => {}, texts }
}

interface Stage {
  readonly store?: Store
  readonly base?: KnowledgeBase
  readonly embed?: Embed | null
  /** What the text `gated` waits for. */
  readonly gate?: Promise<void>
  readonly bases?: { current(): KnowledgeBase }
  readonly clock?: Clock
  readonly owner?: string
  readonly takesWork?: boolean
}

interface Set {
  readonly ingests: Ingests
  readonly knowledge: KnowledgeRecords
  readonly texts: readonly string[]
  readonly reports: unknown[]
  /** Takes documents in, and waits for the end. */
  ingest(documents: readonly object[], prune?: string | null): Promise<object>
  documents(): Promise<readonly string[]>
}

/** Ingests of one process, closed with the test. */
export async function ingestStage(context: TestContext, options: Stage = {}): Promise<Set> {
  const { store = memoryStore(), embed = null, owner = 'one', takesWork = true } = options
  const { clock = systemClock } = options
  await store.open()
  const readers = lineReader(options.gate)
  const current = () => options.bases?.current() ?? options.base ?? base
  const reports: unknown[] = []
  const { knowledge } = store
  const ingests = createIngests({
    ...{ knowledge, readers, embed, owner, takesWork, clock, leaseMs: 15_000 },
    baseOf: async () => current(),
    databases: async () => ['default'],
    basesOf: async () => new Map([['b', current()]]),
    report: (error) => reports.push(error),
  })
  ingests.open()
  context.after(async () => {
    await ingests.close()
    await store.close()
  })
  return {
    ...{ ingests, knowledge, texts: readers.texts, reports },
    async ingest(documents, prune = null) {
      const { id } = await ingests.begin(place, options.base ?? base, { documents, prune })
      const rows = await all(ingests.follow({ ...place, id }, never))
      const { total, added, changed, unchanged, deleted, failed } = rows.at(-1) ?? assert.fail('no ingest')
      return { total, added, changed, unchanged, deleted, failed: failed.map(({ key, code }) => `${key} ${code}`) }
    },
    async documents() {
      const rows = await knowledge.listDocuments('default', 'b', { prefix: '', after: null, limit: 100 })
      return rows.map(({ key, title, revision, passages }) => `${key} ${title} r${revision} p${passages}`)
    },
  }
}

/** All that comes, in order. */
export async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const found: Item[] = []
  for await (const item of items) found.push(item)
  return found
}

/** A document of plain text. */
export const text = (key: string, words: string, more: object = {}) => ({ key, text: words, ...more })
/** What an ingest that did nothing says. */
export const nothing = { added: 0, changed: 0, unchanged: 0, deleted: 0, failed: [] }
