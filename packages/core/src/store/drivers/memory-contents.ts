/** Content of the store in memory: kept once for each digest, while a conversation refers to it. */
import type { Store } from '../store.ts'
import type { ContentUse, StoredContent } from '../stored-content.ts'
import { unusedContentMs } from '../contents.ts'
import { isGone, type Kept, type Memory, type MemoryAccess, type MemoryTables, tablesOf } from './memory-tables.ts'

/** The methods of a store that are about content. */
export function contentMethods({ memory }: MemoryAccess): Pick<Store, 'putContent' | 'readContent'> {
  return {
    putContent: async (database, digest, bytes) => putContents(memory, database, [{ digest, bytes }]),
    async readContent(database, conversation, digest) {
      const tables = tablesOf(memory, database)
      const kept = tables.conversations.get(conversation)
      const use = kept === undefined || isGone(memory, kept) ? undefined : kept.contents?.get(digest)
      return use === undefined ? null : contentOf(tables, use)
    },
  }
}

/** Stores content, and removes what has waited too long for its first reference. */
export function putContents(
  memory: Memory,
  database: string,
  given: readonly Pick<StoredContent, 'digest' | 'bytes'>[],
): void {
  const { contents } = tablesOf(memory, database)
  const now = memory.now()
  if (given.length === 0) return
  for (const [old, { uses, at }] of contents) if (uses === 0 && now - at > unusedContentMs) contents.delete(old)
  for (const { digest, bytes } of given) {
    const known = contents.get(digest)
    if (known === undefined) contents.set(digest, { bytes: bytes.slice(), uses: 0, at: now })
    else known.at = now
  }
}

/** Content with its bytes; a reader may change its copy. */
export function contentOf({ contents }: MemoryTables, use: ContentUse): StoredContent {
  return { ...use, bytes: contents.get(use.digest)?.bytes.slice() ?? new Uint8Array() }
}

/** The content that a conversation refers to, sorted by digest. */
export function usesOf({ contents }: Kept): readonly ContentUse[] {
  return [...(contents?.values() ?? [])].sort((one, other) => (one.digest < other.digest ? -1 : 1))
}
