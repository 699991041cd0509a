/** The MCP servers of a server over HTTP. */
import type { McpServerView } from '@witan/protocol/tools'
import { segment, type Transport } from './transport.ts'

/** The MCP servers of the configuration, as the process that answers knows them. */
export interface McpServersOfServer {
  /** Every server, by name, each with its tools, their pins and tokens. Connects to none. */
  list(): Promise<readonly McpServerView[]>
  /** Connects to a server and asks for its tools anew. `MCP_SERVER_UNAVAILABLE` or `MCP_PROTOCOL_ERROR` with what went wrong. */
  refresh(name: string): Promise<McpServerView>
}

/** The calls about MCP servers over one transport. */
export function mcpCalls(transport: Transport): McpServersOfServer {
  const path = '/api/v1/mcp/servers'
  return {
    async list() {
      const { items } = await transport.json<{ readonly items: readonly McpServerView[] }>('GET', path)
      return items
    },
    refresh: (name) => transport.json('POST', `${path}/${segment(name)}/refresh`),
  }
}
