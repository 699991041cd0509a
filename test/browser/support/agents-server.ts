/** A server on a store in memory, without tokens, whose agents are given. */
import { loadConfig, startServer, type WitanServer } from '@witan/server'

type Agents = NonNullable<Parameters<typeof startServer>[0]['agents']>

/** Starts it on a free port. */
export async function agentsServer(...agents: Agents): Promise<WitanServer> {
  const config = await loadConfig({ cwd: '/', env: { WITAN_LOG_LEVEL: 'silent', WITAN_STORE_URL: 'memory:' } })
  return startServer({ ...config, auth: { mode: 'none' }, server: { ...config.server, port: 0 }, agents })
}
