/** The public keys of other servers and of issuers. Each is kept for a while, and few are asked for at once. */
import type { KeyObject } from 'node:crypto'
import { keysIn, type KeyPlace, keysUrl, type PublicKeys } from '@witan/core/tooling'
import { dropOldest } from '../drop-oldest.ts'
import { refused } from './credential-error.ts'

/** Finds the key of a signature. */
export interface IssuerKeySets {
  /** The key; null if its issuer has none of that id. Throws `UNAUTHENTICATED` if its keys cannot be read. */
  keyOf(place: KeyPlace): Promise<KeyObject | null>
}

/** Reads the JSON at a URL of another server, with all limits of outgoing requests. */
export type FetchJson = (url: string) => Promise<unknown>

/** Bounds; tests make them small. */
const defaults = {
  /** How many issuers are known. */
  issuers: 1_000,
  /** How many of them are asked at the same time. */
  atOnce: 20,
  /** How long keys count without another look. */
  freshMs: 300_000,
  /** How long an issuer is left alone after a look that found no key, or failed. */
  pauseMs: 10_000,
}

interface Known {
  readonly at: number
  /** When a key was last looked for again because it was not there. */
  missedAt: number
  readonly keys: PublicKeys
}

/**
 * Creates the cache. An unknown key is looked for again, but not more often than the pause allows. Strangers name issuers too: what they name
 * keeps nobody out whose keys are known.
 */
export function createIssuerKeySets(fetchJson: FetchJson, now: () => number, limits = defaults): IssuerKeySets {
  const known = new Map<string, Known>()
  /** When an issuer gave no keys. */
  const failed = new Map<string, number>()
  const asking = new Map<string, Promise<Known | null>>()

  function ask(place: KeyPlace): Promise<Known | null> {
    const url = keysUrl(place)
    const before = asking.get(url)
    if (before !== undefined) return before
    if (asking.size >= limits.atOnce && !known.has(url))
      throw refused('The keys of too many servers are asked for now. Try again soon.')
    const asked = read(url, place).finally(() => asking.delete(url))
    asking.set(url, asked)
    return asked
  }

  /** Null if it gives no keys, and gave none before. */
  async function read(url: string, place: KeyPlace): Promise<Known | null> {
    const at = now()
    const keys = await fetchJson(url)
      .then((document) => keysIn(document, place))
      .catch(() => null)
    const before = known.get(url)
    const all = keys ?? before?.keys ?? null
    if (all === null) {
      noteNewest(failed, [url, at], limits.issuers)
      return null
    }
    const found = { at, missedAt: before?.missedAt ?? Number.NEGATIVE_INFINITY, keys: all }
    noteNewest(known, [url, found], limits.issuers)
    failed.delete(url)
    return found
  }

  /** What is known of an issuer, read again where that is old. */
  async function current(place: KeyPlace): Promise<Known> {
    const url = keysUrl(place)
    const before = known.get(url)
    const isLeftAlone = before === undefined && now() - (failed.get(url) ?? Number.NEGATIVE_INFINITY) <= limits.pauseMs
    const isFresh = before !== undefined && now() - before.at <= limits.freshMs
    const found = isFresh ? before : isLeftAlone ? null : await ask(place)
    if (found === null) throw refused('The keys of the server that signed cannot be read.')
    return found
  }

  return {
    async keyOf(place) {
      const found = await current(place)
      const key = found.keys.get(place.kid)
      if (key !== undefined || now() - found.missedAt < limits.pauseMs) return key ?? null
      found.missedAt = now()
      return (await ask(place))?.keys.get(place.kid) ?? null
    },
  }
}

/** Notes something as the newest, and drops the oldest. */
function noteNewest<Value>(map: Map<string, Value>, [key, value]: readonly [string, Value], most: number): void {
  map.delete(key)
  map.set(key, value)
  dropOldest(map, most)
}
