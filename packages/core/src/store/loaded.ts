/** Content that was loaded for model calls, kept as base64: a step of a run asks for the same files as the one before. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { encodeBase64 } from '../identity/base64.ts'
import { channelOf } from '../identity/channel.ts'
import type { Store } from './store.ts'

/** How much is kept, in characters of base64: 48 million, about 36 MB of content. The least recently used goes first. */
const most = 48_000_000

/** Where content is read. */
interface ContentPlace {
  readonly database: string
  readonly conversation: string
  readonly digest: string
}

/** Loads content of a conversation; null if it is gone. */
export function contentLoader(store: Pick<Store, 'readContent'>): (of: ContentPlace) => Promise<string | null> {
  const kept = new Map<string, string>()
  let size = 0
  const drop = (key: string) => {
    size -= kept.get(key)?.length ?? 0
    kept.delete(key)
  }
  return async ({ database, conversation, digest }) => {
    const key = `${channelOf(database, conversation)} ${digest}`
    const known = kept.get(key)
    if (known !== undefined) {
      kept.delete(key)
      kept.set(key, known)
      return known
    }
    await nextTurn() // an embedded store reads several MB at once
    const content = await store.readContent(database, conversation, digest)
    if (content === null) return null
    const text = encodeBase64(content.bytes)
    drop(key) // another call may have loaded it meanwhile
    kept.set(key, text)
    size += text.length
    for (const [oldest] of kept) {
      if (size <= most || oldest === key) break
      drop(oldest)
    }
    return text
  }
}

/** Stores content, and reads it as bytes that nothing keeps. */
export function contentAccess(store: Pick<Store, 'putContent' | 'readContent'>): {
  storeContent(database: string, digest: string, bytes: Uint8Array): Promise<void>
  readContent(of: ContentPlace): Promise<Uint8Array | null>
} {
  return {
    storeContent: (database, digest, bytes) => store.putContent(database, digest, bytes),
    readContent: async ({ database, conversation, digest }) =>
      (await store.readContent(database, conversation, digest))?.bytes ?? null,
  }
}
