/** Export and import of conversations, and the list of databases, of the store in memory. */
import type { Store } from '../store.ts'
import { arriving } from '../snapshot.ts'
import { indexArtifact } from './memory-artifacts.ts'
import { contentsOf, putContent } from './memory-contents.ts'
import { notifyOthers } from './memory-listen.ts'
import { noteRest } from './memory-rest.ts'
import { addSnapshot } from '../usage-count.ts'
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

type SnapshotMethods = Pick<Store, 'listDatabases' | 'readSnapshot' | 'putSnapshot' | 'checkWritable'>

/** The methods of a store that are about moving conversations. */
export function snapshotMethods(access: MemoryAccess): SnapshotMethods {
  const { memory } = access
  return {
    listDatabases: async () =>
      [...memory.databases]
        .filter(([, tables]) => holdsAnything(tables))
        .map(([name]) => name)
        .sort(),
    async readSnapshot(database, id) {
      const tables = tablesOf(memory, database)
      const kept = tables.conversations.get(id)
      if (kept === undefined || isGone(memory, kept)) return null
      const { row, entries, jobs, interruptions, people } = kept
      const contents = contentsOf(tables, kept)
      return {
        row: { ...row },
        entries: [...entries],
        jobs: jobs.map((job) => ({ ...job })),
        interruptions: interruptions.map((one) => ({ ...one })),
        ...(contents.length === 0 ? {} : { contents }),
        ...(people === null ? {} : { participants: [...people.values()].map((one) => ({ ...one })) }),
      }
    },
    async putSnapshot(database, snapshot) {
      const { row, entries, jobs, interruptions, contents = [], participants } = arriving(database, snapshot)
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
      kept.entries.push(...entries)
      for (const entry of entries) indexArtifact(kept, entry)
      for (const job of jobs) addJob(memory, kept, { ...job })
      for (const one of interruptions) addInterruption(tables, kept, one)
      for (const { digest, bytes } of contents) putContent(memory, database, { digest, bytes })
      if (contents.length > 0) useContents(tables, kept, contents)
      if (participants !== undefined) setPeople(kept, participants)
      addSnapshot(tables.usage, { id: row.id, entries, jobs })
      noteRest(memory, kept)
      const at = { database, conversation: row.id }
      if (over !== null) notifyOthers(access, (listener) => listener.gone(at))
      notifyOthers(access, (listener) => listener.appended({ ...at, lastSeq: row.lastSeq }))
      if (kept.live.some(({ wake }) => wake)) notifyOthers(access, (listener) => listener.due())
      return true
    },
    checkWritable: async () => {},
  }
}

function holdsAnything({ conversations, revisions, replies, keys }: MemoryTables): boolean {
  return conversations.size + revisions.size + replies.size + keys.size > 0
}
