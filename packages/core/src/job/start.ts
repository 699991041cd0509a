/** Builds the entries that begin a run: its messages, and the start of its root call. */
import type { AgentData } from '@witan/protocol'
import type {
  AgentStartBody,
  CallPlace,
  Entry,
  EntryContent,
  ListedServer,
  LoggedToolCall,
  MessageBody,
  ToolMode,
  Writable,
} from '@witan/protocol/entries'
import { makeEntry } from '../conversation/entry.ts'
import { entryOfListed } from '../conversation/listed.ts'
import { openPlan } from '../conversation/plan.ts'
import type { ConversationState } from '../conversation/state.ts'
import { mayUseTool } from '../identity/agent-access.ts'
import { type Principal, storedPrincipal } from '../identity/principal.ts'
import { bind } from '../parameter/bind.ts'
import { startParameters } from '../parameter/visibility.ts'
import type { ListingOf } from '../tool/mcp/offered.ts'
import type { Environment, PinnedAgent } from './environment.ts'

/** How a run begins. */
export interface Begin {
  readonly pinned: PinnedAgent
  /** The message in the start entry. */
  readonly message: string
  /** The messages before the start, in order. */
  readonly messages: readonly MessageBody[]
  /** The runtime began it, to report ended tasks to the root's model [F22]. */
  readonly hidden: boolean
  readonly originRunId: string | null
  /** Whom it works for. */
  readonly principal: Principal
  /** The tool mode of the root's call; null for its agent's own. */
  readonly toolMode: ToolMode | null
}

/** The entries of a new run, appended together with its job, and the place of its root call. */
export function runEntries(
  { env, state }: { readonly env: Environment; readonly state: ConversationState },
  begin: Begin,
): { readonly entries: readonly Entry[]; readonly place: CallPlace } {
  const { database, id } = state
  const agent = begin.pinned.data
  const call = env.ids.call()
  const root = { call, parentCall: null, run: call, document: id }
  const place: CallPlace = { ...root, author: agent.id, agentPath: agent.id, invocation: call }
  const { bound } = bind(agent.parameters, {
    parent: null,
    conversationValues: state.stored.conversationValues,
    map: {},
  })
  const { messages, message, hidden, originRunId, principal, toolMode } = begin
  const worksFor = storedPrincipal(principal)
  const shown = startParameters(agent.parameters, bound)
  const body: Writable<AgentStartBody> = {
    agent: agent.id,
    revision: begin.pinned.revision,
    toolCallId: null,
    message,
    parameters: shown.parameters,
    generated: null,
    map: {},
    history: 'agent',
    revisions: env.revisionsBelow(database, agent.id),
    ordered: true,
    initial: initialCalls(agent, { isFresh: state.documents.size === 0, principal }),
    hidden,
    originRunId,
  }
  if (shown.hiddenParameters !== undefined) body.hiddenParameters = shown.hiddenParameters
  const mcp = listedAtStart({ env, state }, { agent, parameters: bound })
  if (mcp !== undefined) body.mcp = mcp
  const plan = openPlan(state.documents.get(id), agent)
  if (plan !== undefined) body.plan = plan
  if (toolMode !== null) body.overrides = { toolMode }
  if (worksFor !== null) body.principal = worksFor
  if (principal.incoming !== undefined) body.incoming = principal.incoming
  const start: EntryContent = { type: 'start', kind: 'agent', body }
  const at = env.clock.now()
  const entries = messages.map((body, index): Entry => {
    const said = { ...place, author: body.author }
    return makeEntry(
      { type: 'message', kind: null, body },
      { place: said, job: call, epoch: 0, appendNo: 1 + index, at },
    )
  })
  const first = makeEntry(start, { place, job: call, epoch: 1, appendNo: 1 + messages.length, at })
  return { entries: [...entries, first], place }
}

/**
 * What the MCP servers of an agent offer it as its call begins. Undefined if it uses none, and where one must be asked first or a person is to be told
 * something: an entry behind the start has it then.
 */
export function listedAtStart(
  { env, state }: { readonly env: Pick<Environment, 'listings'>; readonly state: ConversationState },
  of: Pick<ListingOf, 'agent' | 'parameters'>,
): readonly ListedServer[] | undefined {
  const known = env.listings.known({ ...of, channel: state.channel })
  if (known == null || known.failure !== null || known.notices.length > 0) return undefined
  return entryOfListed(state, known.servers)
}

/**
 * The queries that run before the first model call of a new document, as far as the run's principal may use them; none if the agent
 * continues a document [Rb40].
 */
export function initialCalls(
  { queries: all, access }: AgentData,
  { isFresh, principal }: { readonly isFresh: boolean; readonly principal: Principal },
): readonly LoggedToolCall[] {
  if (!isFresh) return []
  const queries = all.filter(
    ({ addToInitialContext, name }) => addToInitialContext && mayUseTool(access, name, principal),
  )
  return queries.map(({ name }, index) => ({ id: `initial_${index + 1}`, name, arguments: '{}' }))
}
