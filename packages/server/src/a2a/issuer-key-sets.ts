/** The public keys of other servers, which sign for their agents. Each is kept for a while, and few are asked for at once. */
import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose'
import { dropOldest } from '../drop-oldest.ts'
import { refused } from './credential-error.ts'
import { fieldOf } from './wire.ts'

/** Finds the key of a token. */
export interface IssuerKeySets {
  /** `issuer` is an origin. Throws `UNAUTHENTICATED` if its keys cannot be read, and the error of `jose` if none fits. */
  keyOf(issuer: string, ...token: Parameters<JWTVerifyGetKey>): ReturnType<JWTVerifyGetKey>
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
  /** The most keys of one issuer. */
  keys: 100,
}

interface Known {
  readonly at: number
  /** When a key was last looked for again because it was not there. */
  missedAt: number
  /** Null: they could not be read. */
  readonly keys: JWTVerifyGetKey | null
}

/** Creates the cache. An unknown key is looked for again, but not more often than the pause allows. */
export function createIssuerKeySets(fetchJson: FetchJson, now: () => number, limits = defaults): IssuerKeySets {
  const known = new Map<string, Known>()
  const asking = new Map<string, Promise<Known>>()

  function ask(issuer: string): Promise<Known> {
    const before = asking.get(issuer)
    if (before !== undefined) return before
    if (asking.size >= limits.atOnce) throw refused('The keys of too many servers are asked for now. Try again soon.')
    const asked = read(issuer).finally(() => asking.delete(issuer))
    asking.set(issuer, asked)
    return asked
  }

  async function read(issuer: string): Promise<Known> {
    const at = now()
    const keys = await fetchJson(`${issuer}/.well-known/jwks.json`)
      .then((set) => createLocalJWKSet(keySet(set, limits.keys)))
      .catch(() => null)
    const before = known.get(issuer)
    const found = { at, missedAt: before?.missedAt ?? Number.NEGATIVE_INFINITY, keys: keys ?? before?.keys ?? null }
    known.delete(issuer)
    known.set(issuer, found)
    dropOldest(known, limits.issuers)
    return found
  }

  return {
    async keyOf(issuer, header, token) {
      let found = known.get(issuer)
      const age = found === undefined ? Number.POSITIVE_INFINITY : now() - found.at
      if (found === undefined || age > (found.keys === null ? limits.pauseMs : limits.freshMs))
        found = await ask(issuer)
      if (found.keys === null) throw refused('The keys of the server that signed the token cannot be read.')
      try {
        return await found.keys(header, token)
      } catch (error) {
        if (!(error instanceof errors.JWKSNoMatchingKey) || now() - found.missedAt < limits.pauseMs) throw error
        found.missedAt = now()
        const again = await ask(issuer)
        if (again.keys === null) throw error
        return again.keys(header, token)
      }
    },
  }
}

/** The Ed25519 keys of a set, without `alg`: they sign under both of its names. Throws for what is no set. */
function keySet(set: unknown, most: number): JSONWebKeySet {
  const keys = fieldOf(set, 'keys')
  if (!Array.isArray(keys) || keys.length > most) throw new Error(`no set of at most ${most} keys`)
  const fitting = keys.filter((key) => fieldOf(key, 'kty') === 'OKP' && fieldOf(key, 'crv') === 'Ed25519')
  return { keys: fitting.map(({ alg: _, ...key }) => key) }
}
