/** Mode `keys`: every caller shows an API key, or the cookie that a browser got in exchange for one. */
import { digestOfKey, digestOfSession, type KeyLookup, keyPattern, sessionOfKey } from '@witan/core/tooling'
import type { KnownKey } from '@witan/core/tooling'
import { WitanError } from '@witan/protocol'
import { type Auth, bearerOf } from './auth.ts'
import { signInCookie } from './auth-cookie.ts'
import { createKeyCache } from './key-cache.ts'
import { createKeyUses } from './key-uses.ts'
import type { Log } from './log.ts'

/** Streams and waiting replies are checked this often, so that one ends within three seconds after its key. */
const recheckMs = 1_400
/** What `sessionOfKey` gives. */
const sessionPattern = /^[\w-]{43}$/

/** What the mode works with. */
export interface KeyAuthOptions {
  readonly lookup: KeyLookup
  readonly port: () => number
  readonly log: Log
}

/**
 * Creates the authentication by API keys. A key that was revoked is refused within five seconds, in every process; one that has
 * expired at once, by the store's clock. If the store does not answer, nobody is let in: `STORE_UNAVAILABLE`.
 */
export function createKeyAuth({ lookup, port, log }: KeyAuthOptions): Auth {
  const cache = createKeyCache(lookup)
  const uses = createKeyUses(lookup, log)
  const cookie = signInCookie(port)
  async function admitted(digest: string | null): Promise<KnownKey> {
    const key = digest === null ? null : await cache.find(digest)
    if (key === null) throw refused(digest === null ? 'This needs an API key.' : 'This API key is not valid.')
    if (key.expiresAt !== null && key.expiresAt <= lookup.now(key.principal.database))
      throw refused('This API key has expired.')
    uses.note(key)
    return key
  }
  const ofKey = (key: string): string | null => (keyPattern.test(key) ? digestOfKey(key) : null)
  const ofSession = (value: string | null): string | null =>
    value !== null && sessionPattern.test(value) ? digestOfSession(value) : null
  return {
    mode: 'keys',
    token: null,
    recheckMs,
    async check(request, requestOrigin = 'own') {
      const given = bearerOf(request)
      if (given !== null) return (await admitted(ofKey(given))).principal
      return (await admitted(requestOrigin === 'own' ? ofSession(cookie.read(request)) : null)).principal
    },
    exchange: () => null,
    async signIn(request) {
      const given = bearerOf(request) ?? ''
      await admitted(ofKey(given))
      return cookie.set(sessionOfKey(given), request)
    },
    signOut: () => cookie.end(),
    close: () => uses.close(),
  }
}

function refused(detail: string): WitanError {
  const hint =
    'Send one as `Authorization: Bearer wtn_…`, on the command line as --token or WITAN_TOKEN. An admin creates keys.'
  return new WitanError('UNAUTHENTICATED', detail, { hint, details: { realm: 'keys' } })
}
