/** The MCP servers of a runtime as people read them, and ask them anew [D16]. */
import { WitanError } from '@witan/protocol'
import type { McpServerTool, McpServerView } from '@witan/protocol/tools'
import { type Pausable, runWithPauses } from '../identity/pausable.ts'
import { notFound } from '../identity/not-found.ts'
import type { McpAccess } from '../tool/kinds/mcp.ts'
import { cleanDescription } from '../tool/mcp/describe.ts'
import type { McpList, McpServers, McpSettings, McpToolDefinition } from '../tool/mcp/mcp.ts'
import { offeredName } from '../tool/mcp/names.ts'
import { listFromLock, noPins, pinOf } from '../tool/mcp/pins.ts'
import { isReadOnly } from '../tool/mcp/select.ts'
import type { McpAdmin } from './mcp-contract.ts'
import type { Scope } from './scope.ts'

/** The servers for one principal. */
export function mcpAdmin({ parts, ready }: Scope): McpAdmin {
  const { servers, lock } = parts.mcp
  const viewOf = async (settings: McpSettings) => {
    const standing = (servers as McpServers).standing(settings.name)
    const list = standing.list ?? (lock === null ? null : listFromLock(lock, settings.name))
    return { ...standing, ...(await shown(settings, list, lock ?? noPins)) }
  }
  return {
    async list() {
      await ready()
      const all = [...(servers?.settings.values() ?? [])].sort((one, other) => (one.name < other.name ? -1 : 1))
      return Promise.all(all.map(async (settings) => serverView(settings, await viewOf(settings))))
    },
    async refresh(server, { signal = new AbortController().signal } = {}) {
      await ready()
      const settings = servers?.settings.get(server)
      if (servers === null || settings === undefined)
        throw notFound('MCP server', server, { path: 'name', hint: knownHint(servers) })
      const list = await servers.refresh(server, signal)
      if (!('kind' in list)) return serverView(settings, await viewOf(settings))
      const code = list.reason === 'protocol' ? 'MCP_PROTOCOL_ERROR' : 'MCP_SERVER_UNAVAILABLE'
      throw new WitanError(code, list.detail, { hint: 'Look at its log and at its configuration, then try again.' })
    },
  }
}

function knownHint(servers: McpServers | null): string {
  const names = [...(servers?.settings.keys() ?? [])]
  return names.length === 0 ? 'The configuration has no `mcpServers`.' : `Known: ${names.join(', ')}.`
}

type Shown = Pick<McpServerView, 'tools' | 'tokens'> &
  Pick<ReturnType<McpServers['standing']>, 'state' | 'error'> & {
    readonly list: McpList | null
  }

function serverView({ name, transport }: McpSettings, { state, error, list, tools, tokens }: Shown): McpServerView {
  return {
    name,
    transport: transport.type,
    state,
    protocolVersion: list?.protocolVersion === '' ? null : (list?.protocolVersion ?? null),
    serverInfo: list?.serverInfo ?? null,
    error,
    tools,
    tokens,
  }
}

async function shown(
  settings: McpSettings,
  list: McpList | null,
  lock: NonNullable<McpAccess['lock']>,
): Promise<Pick<McpServerView, 'tools' | 'tokens'>> {
  const tools = await runWithPauses(showing(settings, list?.tools ?? [], lock))
  return { tools, tokens: tools.reduce((sum, one) => sum + one.tokens, 0) }
}

function* showing(
  settings: McpSettings,
  definitions: readonly McpToolDefinition[],
  lock: NonNullable<McpAccess['lock']>,
): Pausable<McpServerTool[]> {
  const tools: McpServerTool[] = []
  for (const definition of definitions) {
    yield
    const { name, description = '', inputSchema } = definition
    const offeredAs = offeredName(settings.name, name)
    const words = cleanDescription(description)
    tools.push({
      name,
      offeredAs,
      description: words,
      pin: pinOf(lock, settings.name, definition),
      readOnly: isReadOnly(settings, definition),
      tokens: Math.ceil((offeredAs.length + words.length + JSON.stringify(inputSchema).length) / 4),
    })
  }
  return tools
}
