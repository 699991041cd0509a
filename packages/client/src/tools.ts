/** Tools over HTTP: what agents are offered, a tool tried alone, and the tools that an agent has. */
import type { StoredAgent } from '@witan/protocol'
import type { AgentTool, ServerTool, Trial, TrialInput } from '@witan/protocol/tools'
import { eachItem, type Page, type PageQuery } from './page.ts'
import type { IfMatch } from './sub-agents.ts'
import { revisionHeader, segment, type Transport } from './transport.ts'

/** The tools of a server and of its agents. Every change is a save of the agent, with its checks. */
export interface Tools {
  /** The tools of an agent, of every kind, as in a conversation that gives it no values. */
  list(id: string): Promise<readonly AgentTool[]>
  /** One page of the function tools of the server, with the agents that have each. */
  server(query?: PageQuery): Promise<Page<ServerTool>>
  /** Every function tool of the server, page after page. */
  allOfServer(query?: PageQuery): AsyncGenerator<ServerTool, void, undefined>
  /**
   * Runs a function or a query of an agent alone, with the values of a new conversation; it leaves no conversation. `CONFIRM_REQUIRED` without
   * `confirm` for a tool with an effect, `APPROVAL_REQUIRED` without `approve`, `TOOL_NOT_TRIABLE` for other kinds.
   */
  try(id: string, tool: string, request?: TrialInput & { readonly signal?: AbortSignal }): Promise<Trial>
  /** `TOOL_UNKNOWN` if the server has none of that name. */
  assign(id: string, tool: string, options?: IfMatch): Promise<StoredAgent>
  /** `NOT_FOUND` if the agent has none of that name. */
  unassign(id: string, tool: string, options?: IfMatch): Promise<void>
}

/** The tool calls over one transport. */
export function toolCalls(transport: Transport): Tools {
  const all = (id: string) => `/api/v1/agents/${segment(id)}/tools`
  const at = (id: string, tool: string) => `${all(id)}/${segment(tool)}`
  const server = (query: PageQuery = {}): Promise<Page<ServerTool>> =>
    transport.json('GET', '/api/v1/tools', { query: { ...query } })
  return {
    async list(id) {
      const { items } = await transport.json<{ readonly items: readonly AgentTool[] }>('GET', all(id))
      return items
    },
    server,
    allOfServer: (query) => eachItem(server, query),
    try: (id, tool, { signal, ...body } = {}) => transport.json('POST', `${at(id, tool)}/try`, { body, signal }),
    assign: (id, tool, { ifMatch } = {}) => transport.json('PUT', at(id, tool), { headers: revisionHeader(ifMatch) }),
    unassign: (id, tool, { ifMatch } = {}) =>
      transport.json('DELETE', at(id, tool), { headers: revisionHeader(ifMatch) }),
  }
}
