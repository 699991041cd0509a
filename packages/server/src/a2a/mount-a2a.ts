/** Puts the A2A server into the application. */
import type { Context } from 'hono'
import type { App, AppEnv, AppOptions } from '../app-options.ts'
import { noFederation } from '../federation-config.ts'
import { createWireCredentials } from './credential.ts'
import type { EvidenceChecks, GivenEvidence } from './evidence.ts'
import type { FetchJson } from './issuer-key-sets.ts'
import type { RemoteTokens } from './remote-token.ts'
import { answerA2a } from './server.ts'

/** Adds everything below `/a2a` but the cards, which other routes have. */
export function mountA2a(app: App, options: AppOptions): void {
  const { runtime, auth, hosts, log, federation = noFederation } = options
  const now = (): number => runtime.keyLookup.now()
  const checks = checksOnDemand(options, now)
  const tokens: RemoteTokens = { verify: async (token, audiences) => (await checks()).tokens.verify(token, audiences) }
  const evidence: EvidenceChecks = {
    // Most messages carry none.
    check: async (given, terms) =>
      hasEvidence(given) ? (await checks()).evidence.check(given, terms) : { proven: [], dropped: 0 },
  }
  const credentials = createWireCredentials({ runtime, auth, tokens, port: hosts.port, log })
  const server = { options, federation, credentials, evidence }
  app.all('/a2a', (c) => answerA2a(server, requestOf(c)))
  app.all('/a2a/*', (c, next) => (isCard(c.req.path) ? next() : answerA2a(server, requestOf(c))))
}

interface Checks {
  readonly tokens: RemoteTokens
  readonly evidence: EvidenceChecks
}

/** What reads tokens and evidence. What that takes is loaded with the first one: a server that is called by nobody starts without it. */
function checksOnDemand(
  { runtime, fetchJson = noKeys, federation = noFederation }: AppOptions,
  now: () => number,
): () => Promise<Checks> {
  let made: Promise<Checks> | undefined
  const make = async (): Promise<Checks> => {
    const [{ createIssuerKeySets }, { createRemoteTokens }, { createEvidenceChecks }] = await Promise.all([
      import('./issuer-key-sets.ts'),
      import('./remote-token.ts'),
      import('./evidence.ts'),
    ])
    const keys = createIssuerKeySets(fetchJson, now)
    const { trust } = federation
    const evidence = createEvidenceChecks({ trust, keys, used: runtime.usedEvidence, now })
    return { tokens: createRemoteTokens(keys, now), evidence }
  }
  return () => {
    made ??= make()
    return made
  }
}

function hasEvidence({ evidence, credentials }: GivenEvidence): boolean {
  return (evidence ?? null) !== null || (credentials ?? null) !== null
}

/** Without a way out no server's keys can be read. */
const noKeys: FetchJson = async () => {
  throw new Error('nothing is fetched here')
}

function isCard(path: string): boolean {
  return path.includes('/.well-known/')
}

type A2aContext = Context<AppEnv>

function requestOf(c: A2aContext) {
  return { request: c.req.raw, requestId: c.get('requestId'), destroy: () => void c.env?.outgoing?.destroy() }
}
