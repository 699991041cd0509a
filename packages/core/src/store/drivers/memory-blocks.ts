/** Blocks of agents' memory in the store in memory. */
import {
  type BlockFilter,
  type BlockRecords,
  type BlockResult,
  type BlockRow,
  type BlockWrite,
  keptRevisions,
} from '../../memory/records.ts'
import { type BlockStanding, decideWrite, resultAgain } from '../../memory/write.ts'
import { startOf } from '../cursor.ts'
import { boundedRows } from '../../identity/row-page.ts'
import {
  deleteKept,
  eraseKey,
  forgetDeleted,
  keepBlock,
  type KeptKey,
  keysOf,
  newKey,
  noteUse,
} from './memory-block-rows.ts'
import { isGone, type Memory, type MemoryAccess, type MemoryTables, tablesOf } from './memory-tables.ts'

/** The methods of a store that are about blocks. */
export function blockMethods({ memory }: MemoryAccess): BlockRecords {
  const of = (database: string) => tablesOf(memory, database).blocks
  return {
    readBlocks: async (database, owners) =>
      owners.flatMap((owner) => {
        const rows = [...keysOf(of(database), owner).values()].flatMap(({ row }) => row ?? [])
        return rows.sort((one, other) => (one.key < other.key ? -1 : 1))
      }),
    writeBlock: async (database, write) => writeBlock(memory, tablesOf(memory, database), write),
    async noteBlockUse(database, use) {
      if (isThere(memory, tablesOf(memory, database), use.conversation)) noteUse(of(database), use)
    },
    async listBlocks(database, { limit, after, bound, ...filter }) {
      const { ids, subjects } = of(database)
      const { subject } = filter
      const isAmong = subject !== null && (after === null || ids.get(after)?.owner.subject === subject)
      const kept = isAmong ? (subjects.get(subject) ?? []) : ids.values()
      const rows = [...kept].reverse().flatMap(({ row }) => row ?? [])
      const start = startOf(rows, after, ({ id }) => id)
      const wanted = rows.slice(start).filter((row) => isWanted(row, filter))
      return boundedRows(wanted.slice(0, limit), bound, ({ text }) => text.length)
    },
    getBlock: async (database, id) => of(database).ids.get(id)?.row ?? null,
    async listBlockRevisions(database, id, { limit, after, bound }) {
      const all = [...(of(database).ids.get(id)?.revisions ?? [])].reverse()
      const start = startOf(all, after, ({ revision }) => String(revision))
      return boundedRows(all.slice(start, start + limit), bound, ({ text }) => text.length)
    },
    async deleteBlock(database, id) {
      const kept = of(database).ids.get(id)
      if (kept !== undefined) deleteKept(of(database), kept, memory.now())
      return kept !== undefined
    },
    async eraseBlocks(database, { subject, agent }) {
      let erased = 0
      for (const kept of [...(of(database).subjects.get(subject) ?? [])]) {
        if (agent !== null && kept.owner.agent !== agent) continue
        if (eraseKey(of(database), kept, memory.now())) erased += 1
      }
      return erased
    },
    async listBlockUses(database, { subject, agent, limit, after }) {
      const tables = tablesOf(memory, database)
      const ids = [...tables.blocks.uses].flatMap(([conversation, uses]) => {
        const isUsed = [...uses.values()].some(
          (use) => use.subject === subject && (agent === null || use.agent === agent),
        )
        return isUsed && isThere(memory, tables, conversation) ? [conversation] : []
      })
      return ids
        .sort()
        .filter((id) => after === null || id > after)
        .slice(0, limit)
    },
    copyBlocks: async (database, ...[from, to, idOf]) =>
      copyBlocks(memory, tablesOf(memory, database), { from, to, idOf }),
    async putBlock(database, block, revisions) {
      const tables = tablesOf(memory, database)
      const { blocks } = tables
      const known = keysOf(blocks, block).get(block.key)
      if (known?.row != null || blocks.ids.has(block.id)) return false
      if (block.conversation !== null && !isThere(memory, tables, block.conversation)) return false
      const kept = known ?? newKey(blocks, block)
      keepBlock(blocks, kept, block)
      kept.revisions = [...revisions]
      return true
    },
  }
}

function isThere(memory: Memory, { conversations }: MemoryTables, id: string): boolean {
  const kept = conversations.get(id)
  return kept !== undefined && !isGone(memory, kept)
}

function isWanted(row: BlockRow, filter: BlockFilter): boolean {
  const names = ['agent', 'subject', 'scope', 'kind', 'conversation'] as const
  return names.every((name) => (filter[name] ?? null) === null || row[name] === filter[name])
}

function writeBlock(memory: Memory, tables: MemoryTables, write: BlockWrite): BlockResult {
  const { owner, key, by, call, at } = write
  const { blocks } = tables
  const conversations = [owner.conversation, by.conversationId].filter((id) => id !== null)
  if (!conversations.every((id) => isThere(memory, tables, id))) return { ok: false, reason: 'gone' }
  const conversation = by.conversationId
  if (conversation !== null && owner.subject !== null)
    noteUse(blocks, { agent: owner.agent, subject: owner.subject, conversation })
  forgetDeleted(blocks, memory.now())
  const keys = keysOf(blocks, owner)
  const kept = keys.get(key) ?? newKey(blocks, { ...owner, key })
  const decision = decideWrite(write, standingOf(keys, kept, call))
  if (decision.kind === 'done') return decision.result
  const row = decision.kind === 'put' ? decision.row : null
  const revision = row?.revision ?? kept.last + 1
  if (row === null) deleteKept(blocks, kept, memory.now())
  else {
    keepBlock(blocks, kept, row)
    kept.revisions = [...kept.revisions.slice(1 - keptRevisions), { revision, text: row.text, at, writtenBy: by }]
  }
  forgetCalls(kept, revision - keptRevisions)
  const kind = row?.kind ?? 'core'
  if (call !== null) kept.calls.set(call, { revision, kind, text: row?.text ?? null, at, writtenBy: by })
  return { ok: true, revision, block: row }
}

/** Forgets what calls wrote up to this revision; the earliest stand first. */
function forgetCalls({ calls }: KeptKey, upTo: number): void {
  for (const [call, { revision }] of calls) {
    if (revision > upTo) return
    calls.delete(call)
  }
}

function standingOf(keys: ReadonlyMap<string, KeptKey>, kept: KeptKey, call: string | null): BlockStanding {
  const { row: current, last, calls } = kept
  const own = [...keys.values()].flatMap(({ row }) =>
    row === null ? [] : [{ kind: row.kind, key: row.key, characters: row.text.length }],
  )
  return { current, last, done: resultAgain(calls.get(call ?? '') ?? null, current), own }
}

interface Copying {
  readonly from: string
  readonly to: string
  idOf(): string
}

function copyBlocks(memory: Memory, tables: MemoryTables, { from, to, idOf }: Copying): void {
  const { blocks } = tables
  const has = [...(blocks.conversations.get(to) ?? [])].some(({ row }) => row !== null)
  if (has || !isThere(memory, tables, to)) return
  const own = [...(blocks.conversations.get(from) ?? [])].filter(({ row }) => row !== null)
  const name = ({ owner: { agent, subject }, key }: KeptKey) => [agent, subject ?? '', key]
  for (const one of own.sort((first, second) => compared(name(first), name(second)))) {
    const row: BlockRow = { ...(one.row as BlockRow), id: idOf(), conversation: to }
    const kept = keysOf(blocks, row).get(row.key) ?? newKey(blocks, row)
    keepBlock(blocks, kept, row)
    kept.revisions = one.revisions
  }
  for (const use of blocks.uses.get(from)?.values() ?? []) noteUse(blocks, { ...use, conversation: to })
}

function compared(one: readonly string[], other: readonly string[]): number {
  const place = one.findIndex((text, index) => text !== other[index])
  return place < 0 ? 0 : (one[place] as string) < (other[place] as string) ? -1 : 1
}
