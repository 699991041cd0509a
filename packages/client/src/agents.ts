/** Agents over HTTP: list, read, save, check, draw. */
import type { AgentInput, CheckReport, StoredAgent } from '@witan/protocol'
import type { StoredField } from '@witan/protocol/schemas'
import type { Preview, PreviewInput } from '@witan/protocol/tools'
import { type AgentKnowledge, agentKnowledgeCalls } from './agent-knowledge.ts'
import type { KnowledgeBaseToSave } from './knowledge.ts'
import { eachItem, type Page, type PageQuery } from './page.ts'
import type { ProtocolToSave } from './protocols.ts'
import { type Revisions, revisionCalls } from './revisions.ts'
import { type SubAgents, subAgentCalls } from './sub-agents.ts'
import { type Tools, toolCalls } from './tools.ts'
import { revisionHeader, segment, type Transport } from './transport.ts'

/** What is reachable from one agent, as a drawing shows it. */
export interface AgentGraph {
  readonly nodes: readonly {
    readonly id: string
    readonly name: string
    readonly kind: string
    readonly workflow?: string | null
  }[]
  readonly edges: readonly {
    readonly from: string
    readonly to: string
    readonly kind: string
    readonly description: string
    /** The place among the steps of a workflow, from 1. Older servers do not say it, nor what follows. */
    readonly step?: number | null
    /** Whether the agent waits for a sub-agent: `always`, `default` or `never`. */
    readonly blocking?: string | null
    readonly style?: string | null
  }[]
  /** The busiest nodes, with the number of edges that lead to them and away from them; at most 10. */
  readonly hotSpots: readonly { readonly id: string; readonly in: number; readonly out: number }[]
}

/** An agent to save. A stored agent may be sent back as it is: what the store adds, such as its `revision`, is ignored. */
export type AgentToSave = AgentInput & Partial<Pick<StoredAgent, StoredField>>

/**
 * The agents of the database that the token picks. A caller with the role `run` alone reads only `id`, `name`, `description` and
 * `parameters`, of the agents that it may call.
 */
export interface Agents {
  /** One page. */
  list(query?: PageQuery): Promise<Page<StoredAgent>>
  /** Every agent, page after page. */
  all(query?: PageQuery): AsyncGenerator<StoredAgent, void, undefined>
  get(id: string): Promise<StoredAgent>
  /** Creates or replaces. With `ifMatch` only if the stored revision is that one, else `REVISION_MISMATCH`. Never sent twice. */
  save(agent: AgentToSave, options?: { readonly ifMatch?: number }): Promise<StoredAgent>
  /** Creates; `AGENT_EXISTS` if the id is taken. */
  create(agent: AgentInput): Promise<StoredAgent>
  /** Deletes; `AGENT_REFERENCED` while others list it, unless `force`. */
  delete(id: string, options?: { readonly force?: boolean }): Promise<void>
  /** Saves all or none, so that agents may list each other, and with them the protocols that they speak and the bases that they search. */
  batch(
    agents: readonly AgentToSave[],
    protocols?: readonly ProtocolToSave[],
    knowledge?: readonly KnowledgeBaseToSave[],
  ): Promise<readonly StoredAgent[]>
  /** Checks the stored agents, protocols and knowledge bases together with the given ones; saves nothing. */
  check(
    agents?: readonly AgentToSave[],
    protocols?: readonly ProtocolToSave[],
    knowledge?: readonly KnowledgeBaseToSave[],
  ): Promise<CheckReport>
  /** The tree below one agent. */
  graph(id: string): Promise<AgentGraph>
  /** What the first model call of an agent, or of a draft of it, would get. Stores and asks nothing. */
  preview(id: string, request?: PreviewInput): Promise<Preview>
  readonly revisions: Revisions<StoredAgent>
  /** Spelled as in the address, `/agents/{id}/subagents`. */
  readonly subagents: SubAgents
  readonly tools: Tools
  /** The knowledge bases that an agent searches. */
  readonly knowledge: AgentKnowledge
}

/** The agent calls over one transport. */
export function agentCalls(transport: Transport): Agents {
  const list = (query: PageQuery = {}): Promise<Page<StoredAgent>> =>
    transport.json('GET', '/api/v1/agents', { query: { ...query } })
  const at = (id: string) => `/api/v1/agents/${segment(id)}`
  return {
    list,
    all: (query) => eachItem(list, query),
    get: (id) => transport.json('GET', at(id)),
    save: (agent, { ifMatch } = {}) =>
      transport.json('PUT', at(agent.id), { body: agent, headers: revisionHeader(ifMatch) }),
    create: (agent) => transport.json('POST', '/api/v1/agents', { body: agent }),
    delete: (id, { force } = {}) => transport.json('DELETE', at(id), { query: force ? { force: true } : {} }),
    batch: async (agents, protocols, knowledge) => {
      const saved = await transport.json<{ agents: readonly StoredAgent[] }>('POST', '/api/v1/agents/batch', {
        body: given({ agents, protocols, knowledge }),
      })
      return saved.agents
    },
    check: (agents, protocols, knowledge) =>
      transport.json('POST', '/api/v1/check', { onlyReads: true, body: given({ agents, protocols, knowledge }) }),
    graph: (id) => transport.json('GET', `${at(id)}/graph`),
    preview: (id, request = {}) => transport.json('POST', `${at(id)}/preview`, { body: request, onlyReads: true }),
    revisions: revisionCalls(transport, at),
    subagents: subAgentCalls(transport),
    tools: toolCalls(transport),
    knowledge: agentKnowledgeCalls(transport),
  }
}

/** What was given, without what was not. */
function given(body: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined))
}
