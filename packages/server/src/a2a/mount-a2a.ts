/** Puts the A2A server into the application. */
import type { Context } from 'hono'
import type { App, AppEnv, AppOptions } from '../app-options.ts'
import { noFederation } from '../federation-config.ts'
import { createWireCredentials } from './credential.ts'
import type { FetchJson } from './issuer-key-sets.ts'
import type { RemoteTokens } from './remote-token.ts'
import { answerA2a } from './server.ts'

/** Adds everything below `/a2a` but the cards, which other routes have. */
export function mountA2a(app: App, options: AppOptions): void {
  const { runtime, auth, hosts, log, federation = noFederation } = options
  const now = (): number => runtime.keyLookup.now()
  const tokens = tokensOnDemand(options.fetchJson ?? noKeys, now)
  const credentials = createWireCredentials({ runtime, auth, tokens, port: hosts.port, log })
  const server = { options, federation, credentials }
  app.all('/a2a', (c) => answerA2a(server, requestOf(c)))
  app.all('/a2a/*', (c, next) => (isCard(c.req.path) ? next() : answerA2a(server, requestOf(c))))
}

/** Reads tokens. What that takes is loaded with the first one: a server that is called by nobody starts without it. */
function tokensOnDemand(fetchJson: FetchJson, now: () => number): RemoteTokens {
  let made: Promise<RemoteTokens> | undefined
  const make = async (): Promise<RemoteTokens> => {
    const [{ createIssuerKeySets }, { createRemoteTokens }] = await Promise.all([
      import('./issuer-key-sets.ts'),
      import('./remote-token.ts'),
    ])
    return createRemoteTokens(createIssuerKeySets(fetchJson, now), now)
  }
  return {
    async verify(token, use) {
      made ??= make()
      return (await made).verify(token, use)
    },
  }
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
