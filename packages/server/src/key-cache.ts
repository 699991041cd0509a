/** What the store said about API keys in the last seconds, so that a request rarely asks it. */
import type { KeyLookup, KnownKey } from '@witan/core/tooling'
import { WitanError } from '@witan/protocol'
import { dropOldest } from './drop-oldest.ts'

/** How long an answer of the store counts, from the moment it was asked. With `recheckMs` of streams and waiting replies it stays within three seconds. */
export const keyAgeMs = 1_500

/** How long a request waits for the store to say it. */
export const mostAskingMs = 3_000

/** Bounds against floods of made-up keys; tests make them small. */
interface KeyCacheLimits {
  /** Keys that exist; the longest known is forgotten first. */
  readonly known: number
  /** Digests that no key has, kept apart so that they displace no key. */
  readonly unknown: number
  /** Digests that wait for the store, of keys that were not known before. */
  readonly waiting: number
  /** Digests of one look at the store. */
  readonly atOnce: number
}

const defaultLimits: KeyCacheLimits = { known: 10_000, unknown: 10_000, waiting: 5_000, atOnce: 200 }

/** Finds keys by their digest. */
interface KeyCache {
  /** The key as the store had it at most `keyAgeMs` ago; null if there was none. Rejects if the store does not say. */
  find(digest: string): Promise<KnownKey | null>
}

/** An answer of the store; `at` is when it was asked. */
interface Said<Key extends KnownKey | null> {
  readonly at: number
  readonly key: Key
}

/** Creates a cache. Requests that miss at the same time share one look at the store, and one look follows the other. */
export function createKeyCache(
  store: Pick<KeyLookup, 'find'>,
  { limits = defaultLimits, now = () => performance.now() }: { limits?: KeyCacheLimits; now?: () => number } = {},
): KeyCache {
  const known = new Map<string, Said<KnownKey>>()
  const unknown = new Map<string, Said<null>>()
  const waiting = new Map<string, PromiseWithResolvers<KnownKey | null>>()
  let isLooking = false

  function keep(digest: string, at: number, key: KnownKey | null): KnownKey | null {
    const before = known.get(digest)
    known.delete(digest)
    unknown.delete(digest)
    if (key === null) {
      unknown.set(digest, { at, key })
      dropOldest(unknown, limits.unknown)
      return null
    }
    // A key never changes: with the same object of its principal everything that was made for it stays.
    const same = before?.key.keyId === key.keyId ? { ...key, principal: before.key.principal } : key
    known.set(digest, { at, key: same })
    dropOldest(known, limits.known)
    return same
  }

  async function look(): Promise<void> {
    if (isLooking) return
    isLooking = true
    while (waiting.size > 0) {
      await new Promise((resolve) => setImmediate(resolve))
      // Keys that were known go first: a flood of others must not hold them up.
      const asked = [...waiting.keys()].sort((one, other) => Number(known.has(other)) - Number(known.has(one)))
      await lookFor(asked.slice(0, limits.atOnce))
    }
    isLooking = false
  }

  async function lookFor(digests: readonly string[]): Promise<void> {
    const at = now()
    const settle = (end: (digest: string, asked: PromiseWithResolvers<KnownKey | null>) => void): void => {
      for (const digest of digests) {
        const asked = waiting.get(digest)
        waiting.delete(digest)
        if (asked !== undefined) end(digest, asked)
      }
    }
    try {
      const found = new Map((await store.find(digests)).map((key) => [key.digest, key]))
      if (now() - at > mostAskingMs) throw tooSlow()
      settle((digest, asked) => asked.resolve(keep(digest, at, found.get(digest) ?? null)))
    } catch (error) {
      settle((_, asked) => asked.reject(error))
    }
  }

  return {
    async find(digest) {
      const said = known.get(digest) ?? unknown.get(digest)
      if (said !== undefined && now() - said.at < keyAgeMs) return said.key
      let asked = waiting.get(digest)
      if (asked === undefined) {
        if (waiting.size >= limits.waiting && !known.has(digest)) throw tooMany()
        asked = Promise.withResolvers<KnownKey | null>()
        waiting.set(digest, asked)
        void look()
      }
      return asked.promise
    },
  }
}

function tooSlow(): WitanError {
  return new WitanError('STORE_UNAVAILABLE', 'The store took too long to look up the API key.')
}

function tooMany(): WitanError {
  return new WitanError('STORE_UNAVAILABLE', 'Too many unknown API keys wait to be looked up.')
}
