/** Who calls over A2A: the wire credential of a request, in every mode of authentication. */
import type { Principal, Runtime } from '@witan/core'
import { anonymousPrincipal, isOpen, keyPattern, type PublishedAgent, remotePrincipal } from '@witan/core/tooling'
import { type DatabaseId, isWitanError } from '@witan/protocol'
import { type Auth, bearerOf } from '../auth.ts'
import { createKeyAuth } from '../auth-keys.ts'
import type { Log } from '../log.ts'
import { refused } from './credential-error.ts'
import type { RemoteTokens } from './remote-token.ts'
import { unverifiedIssuer } from './unverified-token.ts'

/** A caller that was let in. */
export interface Caller {
  readonly principal: Principal
  /** The address of an agent on another server; null for a person or a program of this one. */
  readonly address: string | null
  /** The chain that its credential names; undefined without one. */
  readonly chain: unknown
  /** The address that its credential is for; null for any. */
  readonly audience: string | null
  /** The message that its credential goes with; null for any. */
  readonly messageId: string | null
  readonly isAnonymous: boolean
}

/** What a request is for. */
export interface Asked {
  readonly request: Request
  readonly database: DatabaseId
  /** What the credential of another server may be for: an address, or at the hub its origin too. */
  readonly audiences: (audience: string) => boolean
  /** The agent that is called; at the hub each that may be. */
  readonly agents: readonly PublishedAgent[]
}

/** Finds out who calls. */
export interface WireCredentials {
  /** Throws `UNAUTHENTICATED`. */
  check(asked: Asked): Promise<Caller>
  /** How often the caller of a stream is checked again, and by what; null for a credential that stays good for it. */
  recheck(request: Request): Pick<Auth, 'check' | 'recheckMs'> | null
  close(): Promise<void>
}

/** What the credentials are checked with. */
interface CredentialOptions {
  readonly runtime: Runtime
  readonly auth: Auth
  readonly tokens: RemoteTokens
  readonly port: () => number
  readonly log: Log
}

/** Creates the check. A cookie is no credential here, and mode `none` lets nobody in. */
export function createWireCredentials({ runtime, auth, tokens, port, log }: CredentialOptions): WireCredentials {
  const keys = auth.mode === 'keys' ? auth : createKeyAuth({ lookup: runtime.keyLookup, port, log })
  /** The authentication that knows a token of this server; null for a token of another one. */
  const ownOf = (token: string): Auth | null => {
    if (keyPattern.test(token)) return keys
    if (auth.mode === 'local') return token.split('.').length === 3 ? null : auth
    const issuer = auth.mode === 'jwt' ? unverifiedIssuer(token) : null
    return issuer !== null && issuer === auth.issuer ? auth : null
  }
  return {
    async check({ request, database, audiences, agents }) {
      const header = request.headers.get('authorization')
      if (header === null) {
        if (agents.some(admitsAnonymous)) return anonymousCaller(database)
        throw refused('This needs a credential.')
      }
      const token = bearerOf(request)
      if (token === null) throw refused('The credential must be a bearer token.')
      const own = ownOf(token)
      if (own === null) {
        const { address, chain, audience, messageId } = await tokens.verify(token, audiences)
        const named = audience.startsWith('@') ? audience : null
        const principal = remotePrincipal(database, address)
        return { principal, address: address.text, chain, audience: named, messageId, isAnonymous: false }
      }
      const principal = await admitted(own, request)
      if (principal.database !== database) throw refused('This credential is for another database.')
      return { ...unbound, principal, isAnonymous: false }
    },
    recheck(request) {
      const token = bearerOf(request)
      return token === null ? null : ownOf(token)
    },
    close: async () => (keys === auth ? undefined : keys.close()),
  }
}

/** The principal of a token of this server. `listed`: as for a page of another origin, only the header counts. */
async function admitted(auth: Auth, request: Request): Promise<Principal> {
  try {
    return await auth.check(request, 'listed')
  } catch (error) {
    throw isWitanError(error) && error.code === 'UNAUTHENTICATED' ? refused(error.message) : error
  }
}

/** A caller of this server's own, and one without a credential: no address, no chain, and good for every agent and message. */
const unbound = { address: null, chain: undefined, audience: null, messageId: null } as const

function anonymousCaller(database: DatabaseId): Caller {
  const principal = anonymousPrincipal(database)
  return { ...unbound, principal, isAnonymous: true }
}

/**
 * Refuses a caller whose credential goes with another message than the one that came, and one without a credential where nothing came that
 * could reach an agent that is open to it. Both are known once the body is read. Throws `UNAUTHENTICATED`.
 */
export function checkCarried(
  { messageId: own, isAnonymous }: Pick<Caller, 'messageId' | 'isAnonymous'>,
  { messageId, isHub }: { readonly messageId: string | null; readonly isHub: boolean },
): void {
  if (isAnonymous && isHub && messageId === null) throw refused('This needs a credential.')
  if (own !== null && messageId !== null && own !== messageId)
    throw refused('The claim `jti` is not the id of the message.')
}

/** Refuses a caller whose credential is good for the hub, and not for the agent that its message reaches. Throws `UNAUTHENTICATED`. */
export function checkReached({ audience, isAnonymous }: Caller, agent: PublishedAgent): void {
  if (isAnonymous && !admitsAnonymous(agent)) throw refused('This needs a credential.')
  if (audience !== null && audience !== agent.address.text)
    throw refused('The claim `aud` is not the address that the message reaches.')
}

function admitsAnonymous({ data }: PublishedAgent): boolean {
  return isOpen(data.access)
}
