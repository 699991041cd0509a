/** The fold: takes one entry into the state. Pure but for the state it is given, and the only code that changes it. */
import type { AgentData, UsageCounters } from '@witan/protocol'
import type {
  AgentEndBody,
  AgentStartBody,
  CallPlace,
  Entry,
  ErrorBody,
  MessageBody,
  ModelEndBody,
  ResolvedBody,
  ToolStartBody,
} from '@witan/protocol/entries'
import { addCounters, addModelCall, emptyCounters } from '@witan/protocol/entries'
import { bind, documentKey, withGenerated } from '../parameter/bind.ts'
import { overhearingScrubber, scrubberOf } from '../parameter/scrub.ts'
import { parameterLines } from '../parameter/visibility.ts'
import { callersView, gather } from './answer.ts'
import { contentOf, hear } from './hear.ts'
import { prefaceOf } from './shared.ts'
import { givenAt, scrubHistory } from './given.ts'
import type { AgentCall, ConversationState, DocumentState, RunState, Slot } from './state.ts'
import { dropHistory } from './trim.ts'

/** The pinned definition of an agent; every revision that the log names is known before folding [C8]. */
export type AgentLookup = (id: string, revision: number) => AgentData

/** An empty conversation. */
export function emptyState(
  about: Pick<ConversationState, 'database' | 'id' | 'rootAgent' | 'stored' | 'maxModelIterationsPerCall'>,
): ConversationState {
  const { given } = about.stored
  return { ...about, given, wasShown: false, documents: new Map(), ordinals: new Map(), run: null, seq: 0 }
}

/** Takes `entry` into `state`. An entry for a call that is not live changes nothing. */
export function fold(state: ConversationState, entry: Entry, agents: AgentLookup): void {
  if (entry.seq > state.seq) state.seq = entry.seq
  if (state.run !== null && entry.epoch > 0) clockWork(state.run.worked, entry)
  switch (entry.type) {
    case 'message':
      return foldMessage(state, entry.place, entry.body)
    case 'start':
      return entry.kind === 'agent' ? foldAgentStart(state, entry, agents) : foldToolStart(state, entry)
    case 'end':
      return foldEnd(state, entry)
    case 'error':
      return entry.kind === 'agent'
        ? foldAgentOver(state, entry.place, entry.body)
        : foldToolError(state, entry.place, entry.body)
    case 'action_required': {
      const slot = state.run?.slots.get(entry.place.call)
      if (slot === undefined) return
      slot.interruption = entry.body
      slot.state = 'waiting'
      return
    }
    case 'resolved':
      return foldResolved(state, entry.place, entry.body)
    case 'cancel':
      if (state.run?.root.place.call === entry.place.run) state.run.cancelled = true
      return
    case 'notice':
      return
    case 'summary': {
      const document = state.run?.calls.get(entry.place.call)?.document
      if (document !== undefined) dropHistory(document, entry.body)
      return
    }
    default:
      return assertNever(entry)
  }
}

/** A new epoch begins when a parked or lost run goes on: the time between is nobody's work. */
function clockWork(worked: RunState['worked'], { epoch, at }: Entry): void {
  if (epoch > worked.epoch) {
    worked.ms += worked.to - worked.from
    worked.epoch = epoch
    worked.from = at
  }
  worked.to = at
}

function foldMessage(state: ConversationState, place: CallPlace, body: MessageBody): void {
  const document = state.run?.calls.get(place.call)?.document ?? documentAt(state, place.document, place.document)
  const { text, artificialActions } = body
  document.inbox.push(artificialActions === undefined ? { text } : { text, calls: artificialActions })
}

function foldAgentStart(state: ConversationState, entry: Entry & { body: AgentStartBody }, agents: AgentLookup): void {
  const { place, body } = entry
  const agent = agents(body.agent, body.revision)
  const parent = place.parentCall === null ? null : (state.run?.calls.get(place.parentCall) ?? null)
  if (parent === null) Object.assign(state, givenAt(state.stored, entry.seq || Number.POSITIVE_INFINITY))
  const binding = bind(agent.parameters, { parent: parent?.parameters ?? null, given: state.given, map: body.map })
  const parameters = withGenerated(binding, body.generated)
  const key = parent === null ? place.document : documentKey(childPath(parent.document.path, body.agent), parameters)
  const document = documentAt(state, key, place.document)
  const call: AgentCall = {
    place,
    agent,
    revision: body.revision,
    parent,
    toolCallId: body.toolCallId,
    message: body.message,
    model: body.overrides?.model ?? agent.model,
    temperature: body.overrides?.temperature ?? agent.temperature,
    depth: parent === null ? 0 : parent.depth + 1,
    parameters,
    document,
    startedAt: entry.at,
    start: entry,
    system: { role: 'system', content: agent.instructions + parameterLines(agent.parameters, parameters) },
    scrub: scrubberOf(agent.parameters, parameters),
    preface:
      parent === null || body.history !== 'shared'
        ? null
        : prefaceOf(parent, overhearingScrubber(agent.parameters, parameters)),
    gathered: gather(body.answer),
    firstMessage: body.history === 'isolated' ? -1 : 0,
    active: false,
    iterations: 0,
    failures: 0,
    calledTool: false,
    slots: [],
    final: null,
    usage: new Map(),
  }
  if (state.wasShown && call.scrub !== null && document.calls.length === 0)
    scrubHistory(document.messages, call.scrub, parent === null)
  document.calls.push(call)
  if (parent === null) state.run = newRun(call, body.revisions)
  else joinRun(state.run as RunState, call, parent)
  if (document.calls.length > 1) return
  activate(call)
  if (body.initial.length > 0) beginWith(call, body.initial)
}

/** Calls that stand before the first step: the model reads them as its own. */
function beginWith(call: AgentCall, initial: AgentStartBody['initial']): void {
  const { messages, inbox } = call.document
  hear(messages, inbox.splice(0), call.scrub)
  messages.push({ role: 'assistant', content: '', toolCalls: initial })
  call.slots = initial.map((asked) => newSlot(asked, call))
}

function joinRun(run: RunState, call: AgentCall, parent: AgentCall): void {
  run.calls.set(call.place.call, call)
  run.invocations.set(
    baseInvocation(parent, call.agent.id),
    1 + (run.invocations.get(baseInvocation(parent, call.agent.id)) ?? 0),
  )
  const slot = parent.slots.find((one) => one.asked.id === call.toolCallId)
  if (slot === undefined) return
  slot.state = 'child'
  slot.place = call.place
}

/** The invocation id of a child before it is numbered [K19]. */
export function baseInvocation(parent: AgentCall, agent: string): string {
  return `${parent.place.invocation}.sub.${agent}`
}

/** The path of a child's document before it is numbered. */
export function childPath(parentPath: string, agent: string): string {
  return `${parentPath}/${agent}`
}

function newRun(root: AgentCall, revisions: RunState['revisions']): RunState {
  return {
    root,
    revisions,
    calls: new Map([[root.place.call, root]]),
    slots: new Map(),
    modelCalls: 0,
    toolIterations: 0,
    tokens: 0,
    invocations: new Map(),
    worked: { ms: 0, epoch: 1, from: root.startedAt, to: root.startedAt },
    cancelled: false,
    failure: null,
  }
}

function activate(call: AgentCall): void {
  call.active = true
  const { messages, turns } = call.document
  turns.push({ from: messages.length, start: call.start, isRoot: call.parent === null })
  if (call.firstMessage === -1) call.firstMessage = messages.length
  if (call.parent === null) return
  call.document.inbox.push({ text: call.scrub === null ? call.message : call.scrub(call.message) })
}

function documentAt(state: ConversationState, key: string, path: string): DocumentState {
  const known = state.documents.get(key)
  if (known !== undefined) return known
  const document: DocumentState = { path, messages: [], inbox: [], calls: [], turns: [], tokens: null }
  state.documents.set(key, document)
  const base = path.replace(/~\d+$/, '')
  state.ordinals.set(base, 1 + (state.ordinals.get(base) ?? 0))
  return document
}

function foldToolStart(state: ConversationState, entry: Entry & { body: ToolStartBody }): void {
  const call = state.run?.calls.get(entry.place.parentCall ?? '')
  const slot = call?.slots.find((one) => one.asked.id === entry.body.toolCallId)
  if (call === undefined) return
  countersOf(call).toolCalls += 1
  if (slot === undefined) return
  slot.state = 'started'
  slot.place = entry.place
  slot.name = entry.body.name
  slot.epoch = entry.epoch
  state.run?.slots.set(entry.place.call, slot)
}

function foldEnd(state: ConversationState, entry: Entry & { type: 'end' }): void {
  if (entry.kind === 'model') return foldReply(state, entry.place, entry.body)
  if (entry.kind === 'tool') return foldToolOver(state, entry.place, contentOf(entry.body.result))
  return foldAgentOver(state, entry.place, entry.body)
}

function foldReply(state: ConversationState, place: CallPlace, body: ModelEndBody): void {
  const run = state.run
  const call = run?.calls.get(place.call)
  if (run === undefined || run === null || call === undefined) return
  run.modelCalls += 1
  addModelCall(countersOf(call), body.usage)
  run.tokens += (body.usage?.inputTokens ?? 0) + (body.usage?.outputTokens ?? 0)
  if (body.purpose === 'summary') return
  const read = body.usage?.inputTokens ?? null
  if (read !== null) call.document.tokens = read + (body.usage?.outputTokens ?? 0)
  if (body.offered) run.toolIterations += 1
  call.iterations += 1
  const asks = body.offered ? body.toolCalls : []
  const { messages, inbox } = call.document
  if (!body.accepted) call.failures += 1
  if (!body.accepted && body.text === '') return
  hear(messages, inbox.splice(0, body.taken), call.scrub)
  messages.push(
    asks.length === 0
      ? { role: 'assistant', content: body.text }
      : { role: 'assistant', content: body.text, toolCalls: asks },
  )
  if (body.accepted && body.text !== '') call.gathered?.texts.push(body.text)
  if (asks.length > 0) {
    call.calledTool = true
    call.final = null
    call.slots = asks.map((asked) => newSlot(asked, call))
  } else if (body.accepted) {
    call.final = { text: body.text, finishReason: body.finishReason, offered: body.offered }
  }
}

function newSlot(asked: Slot['asked'], owner: AgentCall): Slot {
  return {
    asked,
    owner,
    state: 'asked',
    place: null,
    name: asked.name,
    interruption: null,
    answer: null,
    content: '',
    epoch: 0,
  }
}

function foldToolError(state: ConversationState, place: CallPlace, body: ErrorBody): void {
  const call = state.run?.calls.get(place.parentCall ?? '')
  if (call !== undefined) gatherError(call, body.detail)
  foldToolOver(state, place, errorText(body))
}

/** An error that its call's caller may read goes through what the call itself may not see [D15]. */
function gatherError({ gathered, scrub }: AgentCall, detail: string): void {
  gathered?.errors.push(scrub === null ? detail : scrub(detail))
}

function foldToolOver(state: ConversationState, place: CallPlace, content: string): void {
  const slot = state.run?.slots.get(place.call)
  if (slot === undefined) return
  state.run?.slots.delete(place.call)
  settle(slot, content)
}

function foldResolved(state: ConversationState, place: CallPlace, body: ResolvedBody): void {
  const slot = state.run?.slots.get(place.call)
  if (slot === undefined) return
  slot.state = 'answered'
  slot.interruption = null
  slot.answer = answerOf(body)
}

function answerOf(body: ResolvedBody): Slot['answer'] {
  if (body.state === 'cancelled') return { error: 'cancelled by the user' }
  if (body.state === 'expired') return { error: 'nobody answered in time' }
  return body.answer as Slot['answer']
}

function foldAgentOver(state: ConversationState, place: CallPlace, body: AgentEndBody | ErrorBody): void {
  const run = state.run
  const call = run?.calls.get(place.call)
  if (run === undefined || run === null || call === undefined) return
  run.calls.delete(place.call)
  const { calls, inbox } = call.document
  // A call that ends in the middle of a step leaves no tool call unanswered: providers refuse such a history [P21].
  for (const slot of call.slots) if (slot.state !== 'settled') settle(slot, notRun)
  // A delegation that no model read is not history; what a person said stays.
  if (call.parent !== null && call.active) inbox.length = 0
  calls.splice(calls.indexOf(call), 1)
  const next = calls[0]
  if (next !== undefined && !next.active) activate(next)
  if (call.parent === null) {
    state.run = null
    return
  }
  mergeUsage(call.parent.usage, call.usage)
  const slot = call.parent.slots.find((one) => one.place === call.place || one.asked.id === call.toolCallId)
  if ('code' in body) gatherError(call.parent, body.detail)
  if (slot === undefined) return
  const answer = contentOf(callersView(body, call.gathered))
  // Its caller need not declare what it was bound to: such a value stays below [C17].
  settle(slot, call.scrub === null ? answer : call.scrub(answer))
}

/** When all calls of a step are settled, their results stand in call order, whatever order they came in [C14]. */
function settle(slot: Slot, content: string): void {
  slot.state = 'settled'
  const call = slot.owner
  slot.content = call.scrub === null ? content : call.scrub(content)
  if (call.slots.some((one) => one.state !== 'settled')) return
  for (const { asked, content: text } of call.slots)
    call.document.messages.push({ role: 'tool', toolCallId: asked.id, name: asked.name, content: text })
  call.slots = []
}

const notRun = JSON.stringify({ error: 'The run ended before this was run.' })

function errorText(body: ErrorBody): string {
  return JSON.stringify({ error: body.detail })
}

function countersOf(call: AgentCall): UsageCounters {
  const path = call.place.agentPath
  const known = call.usage.get(path)
  if (known !== undefined) return known
  const fresh = emptyCounters()
  call.usage.set(path, fresh)
  return fresh
}

/** Adds the counters of `from` to `into`, path by path. */
export function mergeUsage(into: Map<string, UsageCounters>, from: ReadonlyMap<string, UsageCounters>): void {
  for (const [path, counters] of from) {
    const known = into.get(path)
    if (known === undefined) into.set(path, { ...counters })
    else addCounters(known, counters)
  }
}

function assertNever(entry: never): never {
  throw new Error(`unknown entry type ${JSON.stringify((entry as Entry).type)}`)
}
