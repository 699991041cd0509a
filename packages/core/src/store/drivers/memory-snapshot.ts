/** Export and import of conversations, and the list of databases, of the store in memory. */
import { usesInLog } from '../block-uses.ts'
import { collectedIfThere, listed, rowsOf } from '../open-snapshot.ts'
import type { OpenSnapshot, Store } from '../store.ts'
import { arriving } from '../snapshot.ts'
import { indexArtifact } from './memory-artifacts.ts'
import { noteUse } from './memory-block-rows.ts'
import { contentOf, putContents, usesOf } from './memory-contents.ts'
import { notifyOthers } from './memory-listen.ts'
import { addRecords } from './memory-records.ts'
import { noteRest } from './memory-rest.ts'
import { usageOfSnapshot } from '../usage-count.ts'
import {
  addConversation,
  addInterruption,
  addJob,
  isGone,
  type MemoryAccess,
  type MemoryTables,
  removeConversation,
  setPeople,
  tablesOf,
  useContents,
} from './memory-tables.ts'

type SnapshotMethods = Pick<
  Store,
  'listDatabases' | 'openSnapshot' | 'readSnapshot' | 'putSnapshot' | 'checkWritable' | 'confirmStored'
>

/** The methods of a store that are about moving conversations. */
export function snapshotMethods(access: MemoryAccess): SnapshotMethods {
  const { memory } = access
  return {
    listDatabases: async () =>
      [...memory.databases]
        .filter(([, tables]) => holdsAnything(tables))
        .map(([name]) => name)
        .sort(),
    openSnapshot: async (database, id) => open(access, database, id),
    readSnapshot: async (database, id) => collectedIfThere(open(access, database, id)),
    async putSnapshot(database, snapshot, beside = []) {
      const { row, entries, jobs, interruptions, contents = [], participants } = await arriving(database, snapshot)
      const used = await usageOfSnapshot({ id: row.id, entries, jobs })
      const tables = tablesOf(memory, database)
      const found = tables.conversations.get(row.id)
      const over = found !== undefined && isGone(memory, found) ? found : null
      if (found !== undefined && over === null) return false
      const isTaken = (one: { conversation: string } | undefined) =>
        one !== undefined && !(over !== null && one.conversation === row.id)
      if (jobs.some(({ id }) => isTaken(tables.jobs.get(id)))) return false
      if (interruptions.some(({ view }) => isTaken(tables.interruptions.get(view.id)))) return false
      if (over !== null) removeConversation(memory, over)
      const kept = addConversation(tables, row)
      for (const entry of entries) {
        kept.entries.push(entry)
        indexArtifact(kept, entry)
      }
      for (const job of jobs) addJob(memory, kept, { ...job })
      for (const one of interruptions) addInterruption(tables, kept, one)
      putContents(memory, database, contents)
      if (contents.length > 0) useContents(tables, kept, contents)
      if (participants !== undefined) setPeople(kept, participants)
      for (const use of usesInLog(row.id, entries)) noteUse(tables.blocks, use)
      tables.usage.adopt(used)
      addRecords(memory, database, beside)
      noteRest(memory, kept)
      const at = { database, conversation: row.id }
      if (over !== null) notifyOthers(access, (listener) => listener.gone(at))
      notifyOthers(access, (listener) => listener.appended({ ...at, lastSeq: row.lastSeq }))
      if (kept.live.some(({ wake }) => wake)) notifyOthers(access, (listener) => listener.due())
      return true
    },
    checkWritable: async () => {},
    confirmStored: async () => {},
  }
}

function open({ memory }: MemoryAccess, database: string, id: string): OpenSnapshot | null {
  const tables = tablesOf(memory, database)
  const kept = tables.conversations.get(id)
  if (kept === undefined || isGone(memory, kept)) return null
  const { row, entries, jobs, interruptions, people } = kept
  const uses = usesOf(kept)
  const { lastSeq } = row
  const isHere = () => tables.conversations.get(id) === kept
  return {
    row: { ...row },
    entries: rowsOf(id, lastSeq, async (from, to) => (isHere() ? entries.slice(from, to) : null)),
    jobs: listed(jobs.map((job) => ({ ...job }))),
    interruptions: listed(interruptions.map((one) => ({ ...one }))),
    contents: rowsOf(id, uses.length, async (from) =>
      isHere() ? uses.slice(from, from + 1).map((use) => contentOf(tables, use)) : null,
    ),
    participants: [...(people?.values() ?? [])].map((one) => ({ ...one })),
  }
}

function holdsAnything({ conversations, revisions, replies, records, blocks }: MemoryTables): boolean {
  if (conversations.size + revisions.size + replies.size + blocks.owners.size > 0) return true
  return [...records].some(([{ beginsDatabase }, { rows }]) => beginsDatabase === true && rows.length > 0)
}
