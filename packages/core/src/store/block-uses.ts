/** Finds in a log whose blocks of memory were read or written there. */
import type { Entry } from '@witan/protocol/entries'
import type { BlockUse } from '../memory/records.ts'

/** The uses that the log of a conversation shows, each once. */
export function usesInLog(conversation: string, entries: Iterable<Entry>): readonly BlockUse[] {
  const found = new Map<string, BlockUse>()
  for (const { type, body } of entries) {
    if (type !== 'memory' || body.subject === null) continue
    const { agent, subject } = body
    found.set(JSON.stringify([agent, subject]), { agent, subject, conversation })
  }
  return [...found.values()]
}
