/** Fixtures of the conformance tests of blocks: owners, writes, and what a store has. */
import assert from 'node:assert/strict'
import type { Entry } from '@witan/protocol/entries'
import type { BlockFilter, BlockLimits, BlockOwner, BlockResult, BlockRow, BlockWrite } from '../../memory/records.ts'
import type { RowPage } from '../../identity/row-page.ts'
import type { Store } from '../../store/store.ts'
import { database, entry } from './store-fixtures.ts'

/** What the clerk remembers of Anna. */
export const anna: BlockOwner = { agent: 'clerk', scope: 'person', subject: 'user:anna', conversation: null }
/** What the clerk remembers for everybody. */
export const everybody: BlockOwner = { agent: 'clerk', scope: 'agent', subject: null, conversation: null }
/** What the clerk remembers of Anna in one conversation. */
export const within = (conversation: string): BlockOwner => ({ ...anna, scope: 'conversation', conversation })

const limits: BlockLimits = { coreCharacters: 10_000_000, coreBlocks: 1_000, archivalCharacters: 10_000_000 }
const person = { id: 'user:anna', agent: null, conversationId: null, runId: null }

let ids = 0

/** A write of a new block, by a request. */
export function writing(key: string, over: Partial<BlockWrite> = {}): BlockWrite {
  ids += 1
  const given = { kind: null, text: `text of ${key}`, expected: null, id: `mem_${ids}`, at: 1_000 + ids }
  return { owner: anna, key, ...given, by: person, call: null, limits, ...over }
}

/** A block as an import has it. */
export function blockOf(key: string, over: Partial<BlockRow> = {}): BlockRow {
  const { owner, text, id, at, by } = writing(key)
  const times = { createdAt: at, updatedAt: at }
  return { ...owner, id, key, kind: 'core', text, revision: 1, ...times, writtenBy: by, ...over }
}

/** Who writes: the clerk's model in this conversation. */
export const modelIn = (conversationId: string) => ({ id: 'user:anna', agent: 'clerk', conversationId, runId: 'r1' })

/** These limits, and no others. */
export const limited = (over: Partial<BlockLimits>): BlockLimits => ({ ...limits, ...over })

/** Writes, and gives the block that was written. */
export async function written(store: Store, write: BlockWrite, at = database): Promise<BlockRow> {
  const result = await store.writeBlock(at, write)
  return (result.ok ? result.block : null) ?? assert.fail(JSON.stringify(result))
}

/** What became of a write, in a word; with the revision if it was done. */
export function wordOf(result: BlockResult): string {
  if (result.ok) return `${result.block === null ? 'gone' : 'written'} ${result.revision}`
  return result.reason === 'full' ? `full of ${result.full.kind} ${result.full.what}` : result.reason
}

/** Writes, and says what became of it. */
export async function tried(store: Store, write: BlockWrite, at = database): Promise<string> {
  return wordOf(await store.writeBlock(at, write))
}

/** Keys and texts of an owner. */
export async function textsOf(store: Store, owner = anna, at = database): Promise<Record<string, string>> {
  return Object.fromEntries((await store.readBlocks(at, [owner])).map(({ key, text }) => [key, text]))
}

/** A page of all blocks. */
export const allBlocks: RowPage & BlockFilter = {
  ...{ limit: 100, after: null },
  ...{ agent: null, subject: null, scope: null, kind: null },
}

/** The keys of a page. */
export async function keysOf(store: Store, page: Partial<RowPage & BlockFilter> = {}, at = database) {
  return (await store.listBlocks(at, { ...allBlocks, ...page })).map(({ key }) => key)
}

/** Revisions and texts of a block, the latest first. */
export async function revisionsOf(store: Store, id: string, page: Partial<RowPage> = {}) {
  const rows = await store.listBlockRevisions(database, id, { limit: 100, after: null, ...page })
  return rows.map(({ revision, text }) => [revision, text])
}

/** The conversations in which blocks about Anna were used. */
export async function usedIn(store: Store, page: Partial<RowPage & { subject: string; agent: string | null }> = {}) {
  return store.listBlockUses(database, { limit: 100, after: null, subject: 'user:anna', agent: null, ...page })
}

/** An entry about what a model read. */
export function remembered(subject: string | null, agent = 'clerk'): Entry {
  const body = { op: 'read', agent, scope: 'person', subject, blocks: [] } as const
  return { ...entry(''), type: 'memory', kind: null, body }
}
