/** What MCP servers offer an agent: from what is known of them, from what was pinned, or by asking. */
import type { NoticeBody } from '@witan/protocol/entries'
import { type McpUse, mcpUses } from '@witan/protocol/mcp'
import { runWithoutPause, runWithPauses } from '../../identity/pausable.ts'
import type { McpFailure, McpList, McpServers, McpSettings } from './mcp.ts'
import type { OfferedServer } from '@witan/protocol/mcp'
import type { Listing, ListingOf, Listings } from './offered.ts'
import { listFromLock, type McpLock } from './pins.ts'
import { selectingTools } from './select.ts'
import { sessionOf } from './session.ts'

/** What is offered of one server, and what a person is told of the rest. */
interface Selected {
  readonly listed: OfferedServer
  readonly notices: readonly NoticeBody[]
}

type Asked = Selected | { readonly failed: NoticeBody; readonly isRequired: boolean }

/** The tools of one use, where they are known; `ask`: they must be asked for. */
type Found = Asked | 'ask'

/** Finds out what the servers of a configuration offer; null if there are none. */
export function listingsOf(servers: McpServers | null, lock: McpLock | null): Listings {
  const select = selector(lock)
  const pinned = new WeakMap<McpLock, Map<string, McpList>>()
  const listIn = (server: string): McpList | null => {
    if (lock === null) return null
    const known = pinned.get(lock) ?? new Map<string, McpList>()
    pinned.set(lock, known)
    const list = known.get(server) ?? listFromLock(lock, server)
    if (list !== null) known.set(server, list)
    return list
  }
  const find = (of: ListingOf, use: McpUse): Found | { readonly list: McpList; readonly settings: McpSettings } => {
    const settings = servers?.settings.get(use.server)
    if (servers === null || settings === undefined) return notConfigured(use.server)
    const session = sessionOf({ settings, use, parameters: of.parameters, channel: of.channel })
    if ('lacks' in session) return lacking(use.server, session.lacks)
    const list = servers.known(session) ?? listIn(use.server)
    return list === null ? 'ask' : { list, settings }
  }
  return {
    known(of) {
      const uses = mcpUses(of.agent)
      if (uses.length === 0) return undefined
      const all: Asked[] = []
      for (const use of uses) {
        const found = find(of, use)
        if (found === 'ask') return null
        all.push('list' in found ? select(of, use, found) : found)
      }
      return joined(all)
    },
    shown(of) {
      return joined(
        mcpUses(of.agent).map((use) => {
          const found = find(of, use)
          if (found === 'ask') return unavailable(use.server, 'it was not asked for them yet')
          return 'list' in found ? select(of, use, found) : found
        }),
      )
    },
    async list(of, signal) {
      const ask = async (use: McpUse): Promise<Asked> => {
        const found = find(of, use)
        if (found !== 'ask') return 'list' in found ? select.slowly(of, use, found) : found
        const settings = servers?.settings.get(use.server) as McpSettings
        const session = sessionOf({ settings, use, parameters: of.parameters, channel: of.channel })
        if (servers === null || 'lacks' in session) return notConfigured(use.server)
        const list = await servers.list(session, signal)
        return 'kind' in list ? away(list, settings) : select.slowly(of, use, { list, settings })
      }
      return joined(await Promise.all(mcpUses(of.agent).map(ask)))
    },
  }
}

/** Chooses what an agent gets of a list, once for each list and use of an agent's revision. */
function selector(lock: McpLock | null) {
  const known = new WeakMap<McpUse, WeakMap<McpList, Selected>>()
  const choose = (
    { agent }: ListingOf,
    use: McpUse,
    { list, settings }: { readonly list: McpList; readonly settings: McpSettings },
  ) =>
    selectingTools({
      use,
      settings,
      list: list.tools,
      pins: lock,
      parameters: agent.parameters.map(({ name }) => name),
    })
  const of = (use: McpUse) => {
    const own = known.get(use) ?? new WeakMap<McpList, Selected>()
    known.set(use, own)
    return own
  }
  type Choice = Parameters<typeof choose>
  const select = (...choice: Choice): Selected => {
    const [, use, { list }] = choice
    const found = of(use).get(list) ?? runWithoutPause(choose(...choice))
    of(use).set(list, found)
    return found
  }
  const slowly = async (...choice: Choice): Promise<Selected> => {
    const [, use, { list }] = choice
    const found = of(use).get(list) ?? (await runWithPauses(choose(...choice)))
    of(use).set(list, found)
    return found
  }
  return Object.assign(select, { slowly })
}

function joined(all: readonly Asked[]): Listing {
  const servers: OfferedServer[] = []
  const notices: NoticeBody[] = []
  let failure: Listing['failure'] = null
  for (const one of all) {
    if ('listed' in one) {
      servers.push(one.listed)
      notices.push(...one.notices)
      continue
    }
    notices.push(one.failed)
    if (one.isRequired)
      failure ??= {
        code: 'MCP_SERVER_UNAVAILABLE',
        detail: one.failed.detail,
        hint: 'Look at the server, or do without it: `required: false`.',
      }
  }
  return { servers, notices, failure }
}

function notConfigured(server: string): Asked {
  return unavailable(server, 'it is not in the configuration of the process that works on this')
}

/** A value that a header needs is missing: nothing of the server can be used. */
function lacking(server: string, parameter: string): Asked {
  const detail = `\`${server}\`: its tools are not offered, since \`${parameter}\`, which a header of each request needs, has no value that is a line of plain text.`
  return { failed: { code: 'TOOL_UNAVAILABLE', detail, tool: server }, isRequired: false }
}

function unavailable(server: string, why: string): Asked {
  const detail = `\`${server}\`: its tools are not offered, since ${why}.`
  return { failed: { code: 'MCP_SERVER_UNAVAILABLE', detail, server }, isRequired: false }
}

function away({ detail }: McpFailure, { name: server, required }: McpSettings): Asked {
  return { failed: { code: 'MCP_SERVER_UNAVAILABLE', detail, server }, isRequired: required }
}
