/** What people may do with the MCP servers of a runtime. */
import type { McpServerView } from '@witan/protocol/tools'

/** The MCP servers of a runtime as people read them. */
export interface McpAdmin {
  /** Every server of the configuration, by name. Connects to none. */
  list(): Promise<readonly McpServerView[]>
  /** Connects to a server and asks for its tools anew. Throws `NOT_FOUND`, and `MCP_SERVER_UNAVAILABLE` or `MCP_PROTOCOL_ERROR` with what went wrong. */
  refresh(server: string, options?: { readonly signal?: AbortSignal }): Promise<McpServerView>
}
