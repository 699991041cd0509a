/** The MCP servers of a runtime, from its options. */
import type { Environment } from '../job/environment.ts'
import { mcpServers } from '../mcp/servers.ts'
import type { McpAccess } from '../tool/kinds/mcp.ts'
import type { McpServers, McpSettings } from '../tool/mcp/mcp.ts'
import { mcpSettingsOf } from '../tool/mcp/settings.ts'
import type { RuntimeOptions } from './options.ts'

/** What calls the tools of MCP servers, from the options of a runtime. Nothing is started yet. */
export function mcpAccessOf(
  { mcpServers: given, mcpLock = null, mcpLog }: RuntimeOptions,
  around: Pick<Environment, 'clock' | 'report'>,
): McpAccess {
  if (given === undefined) return { servers: null, lock: mcpLock }
  if (isServers(given)) return { servers: given, lock: mcpLock }
  const settings =
    given instanceof Map ? (given as ReadonlyMap<string, McpSettings>) : mcpSettingsOf(given, process.env)
  return {
    servers:
      settings.size === 0
        ? null
        : mcpServers(settings, { ...around, ...(mcpLog === undefined ? {} : { log: mcpLog }) }),
    lock: mcpLock,
  }
}

function isServers(given: NonNullable<RuntimeOptions['mcpServers']>): given is McpServers {
  return 'call' in given && typeof given.call === 'function'
}
