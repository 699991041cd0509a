/** The index of artifacts beside the log: it follows the entries, in the same append [T31]. */
import type { Entry } from '@witan/protocol/entries'

/** An entry of the log that is an artifact. */
export type ArtifactEntry = Entry & { readonly type: 'artifact' }

/** A page of the artifacts of one conversation. */
export interface ArtifactPage {
  readonly limit: number
  /** The id of the last artifact of the previous page, exclusive. If it was deleted, the list throws `BODY_INVALID`. */
  readonly after: string | null
  /** Only artifacts of this run, or of this agent; null for all. */
  readonly run: string | null
  readonly agent: string | null
}

/** The methods of a store that find artifacts. A store derives the index from the entries that it stores. */
export interface ArtifactRecords {
  /** The artifacts of a conversation, in the order of its log. */
  listArtifacts(database: string, conversation: string, page: ArtifactPage): Promise<readonly ArtifactEntry[]>
  /** The artifact of that id, in each conversation whose log has it: the oldest first, then its forks, at most 100. */
  findArtifact(
    database: string,
    id: string,
  ): Promise<readonly { readonly conversation: string; readonly entry: ArtifactEntry }[]>
}

/** The most conversations in which an artifact is found. */
export const mostPlaces = 100

/** A row of the index. */
export interface ArtifactRow {
  readonly seq: number
  readonly id: string
  readonly run: string
  readonly agent: string
}

const none: readonly ArtifactRow[] = []

/** The rows for these entries, which get the seqs after `before`. Most appends have none. */
export function artifactRows(entries: readonly Entry[], before: number): readonly ArtifactRow[] {
  let rows: ArtifactRow[] | null = null
  let seq = before
  for (const { type, body, place } of entries) {
    seq += 1
    if (type !== 'artifact') continue
    rows ??= []
    rows.push({ seq, id: body.id, run: place.run, agent: place.author })
  }
  return rows ?? none
}

/** Narrows an entry that the index names. */
export function artifactEntry(entry: Entry): ArtifactEntry {
  if (entry.type === 'artifact') return entry
  throw new Error(`entry ${entry.seq} is not an artifact`)
}
