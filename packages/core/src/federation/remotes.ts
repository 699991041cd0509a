/** Calls of agents on other servers, with everything that they need of this one. */
import type { BearerTerms, MaySend } from '../agent/bearers.ts'
import type { Clock } from '../identity/clock.ts'
import { isTrustedDomain, type TrustedIssuer } from '../identity/trust.ts'
import type { RemoteCaller } from '../tool/remote.ts'
import type { Store } from '../store/store.ts'
import { createCredentials } from './outgoing.ts'
import { createOwnKeys } from './own-keys.ts'
import { createReissue, type EvidenceIssuer } from './reissue.ts'
import { createRemoteCaller } from './remote-calls.ts'
import { createCards } from './remote-cards.ts'
import { hostOf } from './remote-conditions.ts'
import { createSafeFetch } from './safe-fetch.ts'

/** How this server is one among others. */
export interface FederationOptions {
  /** The most hops of a chain: 1 to 64, default 4. */
  readonly maxHops?: number
  /** For tests and private networks: for a host, or a host and a port, the URL whose origin is asked in its place. */
  readonly resolve?: Readonly<Record<string, string>>
  /** Whose evidence is believed, and about whom, in canonical form; nobody's but every server's about its own addresses by default. */
  readonly trust?: readonly TrustedIssuer[]
  /** Issuers that make evidence anew for the next server; none by default: only our own evidence goes out. */
  readonly issuers?: readonly EvidenceIssuer[]
  /** The domains to which a part of a tree's budget is sent, and whose usage counts. */
  readonly budgets?: readonly string[]
  /**
   * For each variable of the environment the origins to which an agent may send it as `bearerEnv` of a remote; `*`: every one anywhere. What the
   * agents of the program name is allowed. Default: nothing else.
   */
  readonly bearerEnv?: BearerTerms
}

/** What calls are made with. */
interface RemotesOptions extends FederationOptions {
  readonly store: Store
  /** The database of each domain. */
  readonly domains: ReadonlyMap<string, string>
  readonly clock: Clock
  readonly maySend: MaySend
  newId(): string
  report(error: unknown): void
}

/** What calls agents on other servers; null without a domain, since nobody could know who calls. */
export function createRemotes({
  store,
  domains,
  clock,
  maySend,
  newId,
  report,
  ...options
}: RemotesOptions): RemoteCaller | null {
  if (domains.size === 0) return null
  const out = createSafeFetch(options.resolve === undefined ? { clock } : { clock, resolve: options.resolve })
  const now = () => clock.now()
  const domainOf = (database: string) => [...domains].find(([, one]) => one === database)?.[0] ?? null
  const sign = createCredentials({
    ...{ keys: createOwnKeys(store), domainOf, maxHops: options.maxHops ?? 4, now },
    ...{ reissue: createReissue(options.issuers ?? [], clock, report), variables: process.env, maySend },
  })
  const find = createCards({ store, fetch: out, now, maySend })
  const { trust = [] } = options
  const shared = new Set(options.budgets)
  const sharesBudget = (remote: string) => shared.has(hostOf(remote))
  const passesIssuers = (remote: string) => isTrustedDomain(trust, hostOf(remote))
  return createRemoteCaller({ find, sign, sharesBudget, passesIssuers, newId, fetch: out.open, clock }, report)
}
