/** The index of artifacts of the store in memory. */
import type { Entry } from '@witan/protocol/entries'
import { type ArtifactEntry, type ArtifactRecords, mostPlaces } from '../artifact-records.ts'
import { startOf } from '../cursor.ts'
import { isGone, type Kept, type MemoryAccess, tablesOf } from './memory-tables.ts'

/** The methods of a store that find artifacts. */
export function artifactMethods({ memory }: MemoryAccess): ArtifactRecords {
  return {
    async listArtifacts(database, conversation, { limit, after, run, agent }) {
      const kept = tablesOf(memory, database).conversations.get(conversation)
      const all = kept === undefined || isGone(memory, kept) ? [] : [...(kept.artifacts?.values() ?? [])]
      const rest = all.slice(startOf(all, after, ({ body }) => body.id))
      const isWanted = ({ place }: ArtifactEntry) =>
        (run === null || place.run === run) && (agent === null || place.author === agent)
      return rest.filter(isWanted).slice(0, limit)
    },
    async findArtifact(database, id) {
      const places: { conversation: string; entry: ArtifactEntry; createdAt: number }[] = []
      for (const kept of tablesOf(memory, database).conversations.values()) {
        const entry = kept.artifacts?.get(id)
        if (entry === undefined || isGone(memory, kept)) continue
        places.push({ conversation: kept.row.id, entry, createdAt: kept.row.createdAt })
      }
      const oldest = places.sort((one, other) => one.createdAt - other.createdAt).slice(0, mostPlaces)
      return oldest.map(({ conversation, entry }) => ({ conversation, entry }))
    },
  }
}

/** Adds an entry to the index if it is an artifact. */
export function indexArtifact(kept: Kept, entry: Entry): void {
  if (entry.type !== 'artifact') return
  kept.artifacts ??= new Map()
  if (!kept.artifacts.has(entry.body.id)) kept.artifacts.set(entry.body.id, entry)
}
