/** Asks the MCP servers of a configuration for their tools, a few at a time. */
import { type McpList, mcpServers, type McpServers, type McpSettings } from '@witan/core/tooling'

/** What a server answered, or why it did not. */
export type Looked =
  | { readonly server: string; readonly list: McpList; readonly error: null }
  | { readonly server: string; readonly list: null; readonly error: string }

/** Makes the connections of servers; nothing is started by it. `report` takes trouble that no answer tells. */
export type OpenServers = (settings: ReadonlyMap<string, McpSettings>, report: (error: unknown) => void) => McpServers

/** The connections of this process. */
export const openServers: OpenServers = (settings, report) => mcpServers(settings, { report })

/** The most servers that are asked at the same time. */
const atOnce = 8

/** Asks each of these servers, in this order; what was started is ended before this resolves. */
export async function lookAt(servers: McpServers, names: readonly string[]): Promise<readonly Looked[]> {
  const { signal } = new AbortController()
  const ask = async (server: string): Promise<Looked> => {
    const list = await servers.list({ server, headers: {}, conversation: null }, signal)
    return 'kind' in list ? { server, list: null, error: list.detail } : { server, list, error: null }
  }
  try {
    const looked: Looked[] = []
    for (let from = 0; from < names.length; from += atOnce)
      looked.push(...(await Promise.all(names.slice(from, from + atOnce).map(ask))))
    return looked
  } finally {
    await servers.close()
  }
}
