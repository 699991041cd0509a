/** Which entries say what embedding models used. */
import type { EmbeddingUse } from './counters.ts'
import type { Entry } from './entry.ts'

const none: readonly EmbeddingUse[] = []

/** What embedding models used for the search that an entry tells of: one that was made by itself, or one of a tool. */
export function embeddingsIn({ type, kind, body }: Entry): readonly EmbeddingUse[] {
  if (type === 'retrieval') return body.embedded ?? none
  return kind === 'tool' && type !== 'start' ? (body.embedded ?? none) : none
}
