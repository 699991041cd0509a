/** A server in this process with agents of a test, and with the models and tools of `asking.config.ts`. */
import { loadConfig, startServer, type WitanServer } from '@witan/server'

type Config = Awaited<ReturnType<typeof loadConfig>>

/** Starts it, on a free port and with a store in memory; anybody may do anything. */
export async function askingServer(
  agents: Config['agents'],
  more: Partial<Pick<Config, 'limits'>> = {},
): Promise<WitanServer> {
  const config = await loadConfig({
    file: new URL('./asking.config.ts', import.meta.url).pathname,
    env: { WITAN_LOG_LEVEL: 'error', WITAN_PORT: '0', WITAN_STORE_URL: 'memory:', WITAN_AUTH_MODE: 'none' },
  })
  return startServer({ ...config, ...more, agents })
}
