/** Reads what events say of the tools of MCP servers. */
import type { McpServerOfCall } from './conversation-view.ts'
import { records, text } from './read-value.ts'

/** The servers whose tools a call has. One without a name is left out. */
export function readMcp(given: unknown): McpServerOfCall[] {
  const servers = records(given).map(({ server, tools, digest }) => ({
    server: text(server),
    tools: Array.isArray(tools) ? tools.map(text).filter((name) => name !== '') : [],
    digest: text(digest),
  }))
  return servers.filter(({ server }) => server !== '')
}
