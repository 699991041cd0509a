/** The knowledge bases of an agent over HTTP, one by one. */
import type { StoredAgent } from '@witan/protocol'
import type { KnowledgeUse } from '@witan/protocol/knowledge'
import type { IfMatch } from './sub-agents.ts'
import { revisionHeader, segment, type Transport } from './transport.ts'

/** How an agent searches a base; omitted keys take their defaults. */
type KnowledgeSettings = Partial<Omit<KnowledgeUse, 'id'>>

/** The knowledge bases that an agent searches. Every change is a save of the agent, with its checks. */
export interface AgentKnowledge {
  /** Lists a base, or replaces how it is searched. `KNOWLEDGE_UNKNOWN` if there is none of that id. */
  assign(id: string, base: string, settings?: KnowledgeSettings & IfMatch): Promise<StoredAgent>
  /** `NOT_FOUND` if the agent does not list it. */
  unassign(id: string, base: string, options?: IfMatch): Promise<void>
}

/** The calls for an agent's bases over one transport. */
export function agentKnowledgeCalls(transport: Transport): AgentKnowledge {
  const at = (id: string, base: string) => `/api/v1/agents/${segment(id)}/knowledge/${segment(base)}`
  return {
    assign: (id, base, { ifMatch, ...settings } = {}) =>
      transport.json('PUT', at(id, base), { body: settings, headers: revisionHeader(ifMatch) }),
    unassign: (id, base, { ifMatch } = {}) =>
      transport.json('DELETE', at(id, base), { headers: revisionHeader(ifMatch) }),
  }
}
