/** Makes the call of an agent from its start: its values, its document, and what its model may read. */
import type { AgentData } from '@witan/protocol'
import { edgesOf } from '@witan/protocol/edges'
import type { AgentStartBody, Entry } from '@witan/protocol/entries'
import { bind, withGenerated } from '../parameter/bind.ts'
import { hiddenNames } from '../parameter/visibility.ts'
import { childAddress, documentAt } from './address.ts'
import { answering } from './fold-exchange.ts'
import { gather, speaksFor } from './callers-view.ts'
import { inheritedHistory } from './fold-hand-over.ts'
import { offeredIn } from './listed.ts'
import type { AgentCall, ConversationState, ToolCall } from './state.ts'
import type { SharedHistory } from './shared-history.ts'

/** Who starts a call: its agent, the call above it, and the tool call that runs it, if one does. */
interface Origin {
  readonly agent: AgentData
  readonly parent: AgentCall | null
  readonly tool: ToolCall | null
}

/** The call of a start entry, and its invocation before numbering. */
export function newCall(
  state: ConversationState,
  entry: Entry & { body: AgentStartBody },
  { agent, parent, tool }: Origin,
): { readonly call: AgentCall; readonly invocation: string } {
  const { place, body } = entry
  const { conversationValues } = state
  const bound = bind(agent.parameters, { parent: parent?.parameters ?? null, conversationValues, map: body.map })
  const parameters = withGenerated(bound, body.generated)
  const source = body.handOver === undefined ? null : parent
  const address =
    parent === null || source !== null
      ? null
      : childAddress(state, parent, { agent: body.agent, parameters, call: place.call, exchange: body.exchange })
  const scrubbers = scrubbersOf(state, agent, parameters)
  const reader = { scrub: scrubbers.scrubOthers, naming: agent }
  const exchange = body.exchange ?? (body.handOver?.returns === false ? (source?.exchange ?? null) : null)
  const call: AgentCall = {
    place,
    job: parent === null || body.background !== undefined ? place.call : parent.job,
    agent: answering(agent, exchange),
    revision: body.revision,
    parent,
    askedBy: tool ?? parent?.toolCalls.find((one) => one.requested.id === body.toolCallId) ?? null,
    toolCallId: body.toolCallId,
    message: body.message,
    opening: null,
    model: body.overrides?.model ?? agent.model,
    temperature: body.overrides?.temperature ?? agent.temperature,
    toolMode: body.overrides?.toolMode ?? agent.toolMode,
    handOver: body.handOver ?? null,
    handedTo: null,
    exchange,
    step: body.step ?? null,
    workflow: agent.workflow === null ? null : { input: '', steps: [] },
    remote: body.remote ?? null,
    depth: parent === null ? 0 : parent.depth + (source === null ? 1 : 0),
    parameters,
    people: parent?.people ?? state.people,
    document: source?.document ?? documentAt(state, address?.key ?? place.document, place.document),
    startedAt: entry.at,
    start: entry,
    share: body.share ?? null,
    initial: body.initial,
    scrub: scrubbers.scrub,
    scrubOthers: scrubbers.scrubOthers,
    unseen: scrubbers.unseen,
    shared: source === null ? sharedHistory(parent, body, reader) : inheritedHistory(source, reader),
    gathered: gather(body.answer) ?? (speaksFor(place, body) === null ? null : (parent?.gathered ?? null)),
    firstSaid: source?.firstSaid ?? (body.history === 'isolated' ? -1 : 0),
    active: false,
    iterations: 0,
    uncountedIterations: 0,
    failures: 0,
    hasNoReply: false,
    calledTool: false,
    endedToolMode: false,
    toolCalls: [],
    reply: null,
    refused: [],
    earlierAnswers: [],
    final: null,
    isCritic: body.critique === true,
    critic: null,
    guard: null,
    guards: body.guardrail ?? null,
    draft: null,
    hasRemembered: false,
    isMemoryWithheld: false,
    checked: null,
    planRevisions: 0,
    sources: null,
    mcp: body.mcp === undefined ? null : offeredIn(state, body.mcp),
    usage: new Map(),
  }
  return { call, invocation: address?.invocation ?? place.invocation }
}

/** The scrubbers for what an agent's model reads. */
function scrubbersOf(
  { scrubbers }: ConversationState,
  { parameters: declared }: AgentData,
  bound: AgentCall['parameters'],
) {
  if (declared.length === 0) return nothingHidden
  const unseen = hiddenNames(declared, bound).join(' ')
  const scrub = scrubbers.of(declared, bound)
  return { unseen, scrub, scrubOthers: unseen === '' && scrub === null ? null : scrubbers.ofOthers(declared, bound) }
}

const nothingHidden = { unseen: '', scrub: null, scrubOthers: null } as const

function sharedHistory(
  parent: AgentCall | null,
  { history }: Pick<AgentStartBody, 'history'>,
  reader: Pick<SharedHistory, 'scrub' | 'naming'>,
): SharedHistory | null {
  if (parent === null || history !== 'shared') return null
  const { agent, document, firstSaid } = parent
  const { said } = document
  const others = new Set([...edgesOf(agent).flatMap((edge) => edge.tool ?? []), ...document.peerTools])
  return { said, from: Math.max(firstSaid, 0), upTo: said.length, others, ...reader }
}
