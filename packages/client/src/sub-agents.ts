/** The sub-agents and tools of an agent over HTTP, one by one, and direct runs of sub-agents. */
import type { AgentInput, GivenParameter, Prompt, RunRequest, RunResult, SubAgentEdge } from '@witan/protocol'
import type { AssignedSubAgent, SubAgentLine } from '@witan/protocol/edges'
import { eachItem, type Page, type PageQuery } from './page.ts'
import { followRun, isResult, type Reading } from './stream.ts'
import { revisionHeader, segment, type Transport } from './transport.ts'

/** An edge to a sub-agent; omitted keys take their defaults. */
export type Edge = Partial<Omit<SubAgentEdge, 'agent'>>

/** Only if the stored agent is at this revision, else `REVISION_MISMATCH`. For sub-agents it is the parent's revision. */
export interface IfMatch {
  readonly ifMatch?: number
}

/** A new agent, and the edge to it. */
export interface NewSubAgent extends IfMatch {
  readonly agent: AgentInput
  readonly edge?: Edge
}

/** A direct run: a prompt, or answers to open interruptions of `conversationId`. */
export interface DirectRunRequest extends Partial<Omit<RunRequest, 'prompt' | 'wait'>> {
  readonly prompt?: Prompt
  /** A conversation of this sub-agent; absent: a new one. */
  readonly conversationId?: string
  /** Your own id of the message: a repeat with the same id is accepted once and returns the first result. */
  readonly messageId?: string
  /** The values of a new conversation, hidden trusted ones too. An existing conversation keeps its own. */
  readonly parameters?: Readonly<Record<string, GivenParameter>>
  /** Stops waiting; the run itself goes on unless `onDisconnect` is `cancel`. */
  readonly signal?: AbortSignal
}

/** The sub-agents that an agent lists. Every change is a save of the parent, with its checks; only `create` and `run` are sent again after a lost connection. */
export interface SubAgents {
  /** One page, in the order of the parent's list. */
  list(parentId: string, query?: PageQuery): Promise<Page<SubAgentLine>>
  /** All of them, page after page. */
  all(parentId: string, query?: PageQuery): AsyncGenerator<SubAgentLine, void, undefined>
  /** Creates an agent and lists it, both or neither; `AGENT_EXISTS` if its id is taken. */
  create(parentId: string, subAgent: NewSubAgent): Promise<AssignedSubAgent>
  /** Lists an agent, or replaces the edge to it. */
  assign(parentId: string, id: string, edge?: Edge & IfMatch): Promise<AssignedSubAgent>
  /** Removes it from the list; `NOT_FOUND` if it is not listed. The agent itself stays. */
  unassign(parentId: string, id: string, options?: IfMatch): Promise<void>
  /**
   * Runs a listed sub-agent as the root of a separate conversation, until it ends or waits. A failed run is a
   * result, not an error.
   */
  run(parentId: string, id: string, request: DirectRunRequest): Promise<RunResult>
}

/** The sub-agent calls over one transport. */
export function subAgentCalls(transport: Transport): SubAgents {
  const roster = (parentId: string) => `/api/v1/agents/${segment(parentId)}/subagents`
  const at = (parentId: string, id: string) => `${roster(parentId)}/${segment(id)}`
  const list = (parentId: string, query: PageQuery = {}): Promise<Page<SubAgentLine>> =>
    transport.json('GET', roster(parentId), { query: { ...query } })
  return {
    list,
    all: (parentId, query) => eachItem((page) => list(parentId, page), query),
    create: (parentId, { ifMatch, ...body }) =>
      transport.json('POST', roster(parentId), { body, headers: revisionHeader(ifMatch) }),
    assign: (parentId, id, { ifMatch, ...edge } = {}) =>
      transport.json('PUT', at(parentId, id), { body: edge, headers: revisionHeader(ifMatch) }),
    unassign: (parentId, id, { ifMatch } = {}) =>
      transport.json('DELETE', at(parentId, id), { headers: revisionHeader(ifMatch) }),
    run: (parentId, id, request) => runDirectly(transport, `${at(parentId, id)}/run`, request),
  }
}

/** A server that stops gives only the run's id: the run goes on at its next start, and is followed there. */
async function runDirectly(
  transport: Transport,
  path: string,
  { signal, ...body }: DirectRunRequest,
): Promise<RunResult> {
  const reply = await transport.json<RunResult | { readonly runId: string; readonly conversationId: string }>(
    'POST',
    path,
    { body, signal },
  )
  if (isResult(reply)) return reply
  const { runId, conversationId } = reply
  const reading: Reading = { conversationId, verbose: false, signal, lastSeq: 0 }
  const run = followRun(transport, reading, runId)
  for (;;) {
    const step = await run.next()
    if (step.done) return step.value
  }
}
