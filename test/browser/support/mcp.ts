/** What tests of MCP servers share: a server of Witan, and the parts of its page. */
import { loadConfig, startServer, type WitanServer } from '@witan/server'
import type { Page } from 'playwright-core'

/** A server in memory, for everybody. */
export async function serve(more: object): Promise<WitanServer> {
  const env = { WITAN_LOG_LEVEL: 'silent', WITAN_PORT: '0', WITAN_STORE_URL: 'memory:', WITAN_AUTH_MODE: 'none' }
  return await startServer({ ...(await loadConfig({ cwd: '/', env })), ...more })
}

export const main = (page: Page) => page.getByRole('navigation', { name: 'Main' })
export const card = (page: Page, name: string) => page.getByRole('article', { name, exact: true })
export const toolsOf = (page: Page, name: string) => page.getByRole('list', { name: `Tools of ${name}` })
export const refresh = (page: Page, name: string) => card(page, name).getByRole('button', { name: /^Refresh/ })
