/** The fold: takes one entry into the state. Pure but for the state it is given, and the only code that changes it. */
import type { AgentData, UsageCounters } from '@witan/protocol'
import type {
  AgentEndBody,
  AgentStartBody,
  CallPlace,
  Entry,
  ErrorBody,
  ModelEndBody,
  ToolStartBody,
} from '@witan/protocol/entries'
import { addModelCall, emptyCounters, roundCost } from '@witan/protocol/entries'
import { channelOf } from '../identity/channel.ts'
import { mergeUsage } from './usage.ts'
import { bind, documentKey, withGenerated } from '../parameter/bind.ts'
import { overhearingScrubber, scrubberOf } from '../parameter/scrub.ts'
import { parameterLines } from '../parameter/visibility.ts'
import { callersView, gather } from './answer.ts'
import { foldRequired, foldResolved } from './asking.ts'
import { handleOf } from './handle.ts'
import { contentOf, hear, resultText } from './hear.ts'
import { prefaceOf } from './shared.ts'
import { givenAt, scrubHistory, tightened } from './given.ts'
import { type AgentCall, type ConversationState, isTop, liveJob, type RunState, type Slot } from './state.ts'
import { foldMessage } from './message.ts'
import { childPath, documentAt } from './place.ts'
import { clockWork, newRun, nothingSpent } from './run.ts'
import { SparseMap } from './sparse-map.ts'
import { endTask, noteEnd, settleAccount, startTask } from './task.ts'
import { dropHistory } from './trim.ts'

/** The pinned definition of an agent; every revision that the log names is known before folding [C8]. */
export type AgentLookup = (id: string, revision: number) => AgentData

/** An empty conversation. */
export function emptyState(
  about: Pick<ConversationState, 'database' | 'id' | 'rootAgent' | 'stored' | 'maxModelIterationsPerCall'>,
): ConversationState {
  const { given } = about.stored
  return {
    ...about,
    channel: channelOf(about.database, about.id),
    given,
    wasShown: false,
    documents: new Map(),
    ordinals: new Map(),
    run: null,
    spent: nothingSpent(),
    tasks: new SparseMap(),
    untold: new SparseMap(),
    scrubbed: new SparseMap(),
    badEnds: new SparseMap(),
    seq: 0,
  }
}

/** Takes `entry` into `state`. An entry for a call that is not live changes nothing. */
export function fold(state: ConversationState, entry: Entry, agents: AgentLookup): void {
  if (entry.seq > state.seq) state.seq = entry.seq
  const run = liveJob(state, entry.job)
  if (run !== null && entry.epoch > 0) clockWork(run.worked, entry)
  switch (entry.type) {
    case 'message':
      return foldMessage(state, run, entry)
    case 'start':
      return entry.kind === 'agent' ? foldAgentStart(state, entry, agents) : foldToolStart(run, entry)
    case 'end':
      return foldEnd(state, run, entry)
    case 'error':
      return entry.kind === 'agent' ? foldAgentOver(state, run, entry) : foldToolError(run, entry.place, entry.body)
    case 'action_required':
    case 'question_required':
    case 'approval_required':
    case 'message_required':
    case 'policy_required':
      return foldRequired(run, entry.place, entry.body)
    case 'resolved':
      return foldResolved(run, entry.place, entry.body)
    case 'cancel':
      if (run !== null) run.cancelled = true
      return
    case 'task': {
      const task = state.tasks.get(entry.place.call)
      if (task !== undefined) task.told = entry.body.status
      return
    }
    case 'notice':
      if (run !== null && entry.body.code === 'RUN_RECOVERED') run.recovered += 1
      if (entry.body.hidden !== undefined) state.stored = tightened(state.stored, entry.body.hidden, entry.seq - 1)
      return
    case 'summary': {
      const document = run?.calls.get(entry.place.call)?.document
      if (document !== undefined) dropHistory(document, entry.body)
      return
    }
    default:
      return assertNever(entry)
  }
}

function foldAgentStart(state: ConversationState, entry: Entry & { body: AgentStartBody }, agents: AgentLookup): void {
  const { place, body } = entry
  const agent = agents(body.agent, body.revision)
  const caller = liveJob(state, entry.job)
  const parent = place.parentCall === null ? null : (caller?.calls.get(place.parentCall) ?? null)
  if (parent === null) Object.assign(state, givenAt(state.stored, entry.seq || Number.POSITIVE_INFINITY))
  const binding = bind(agent.parameters, { parent: parent?.parameters ?? null, given: state.given, map: body.map })
  const parameters = withGenerated(binding, body.generated)
  const key = parent === null ? place.document : documentKey(childPath(parent.document.path, body.agent), parameters)
  const document = documentAt(state, key, place.document)
  const call: AgentCall = {
    place,
    job: parent === null || body.background !== undefined ? place.call : parent.job,
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
    initial: body.initial,
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
  if (parent === null) {
    if (!body.hidden) state.spent = nothingSpent()
    state.run = newRun(call, { tree: agent, revisions: body.revisions, grant: null, account: state.spent })
  } else if (body.background === undefined) joinRun(caller as RunState, call, parent)
  else {
    const from = caller as RunState
    count(from, call, parent)
    const task = newRun(call, startTask(from, call, body.background))
    state.tasks.set(place.call, task)
    const slot = parent.slots.find((one) => one.asked.id === call.toolCallId)
    if (slot !== undefined) settle(slot, contentOf(handleOf(place.call, body.toolCallId)))
  }
  if (document.calls.length > 1) return
  activate(call)
}

/** Calls that stand before the first step: the model reads them as its own. */
function beginWith(call: AgentCall): void {
  const { document, initial } = call
  const { messages, inbox } = document
  hear(messages, inbox.splice(0), call.scrub)
  messages.push({ role: 'assistant', content: '', toolCalls: initial })
  call.slots = initial.map((asked) => newSlot(asked, call))
}

function joinRun(run: RunState, call: AgentCall, parent: AgentCall): void {
  run.calls.set(call.place.call, call)
  count(run, call, parent)
  const slot = parent.slots.find((one) => one.asked.id === call.toolCallId)
  if (slot === undefined) return
  slot.state = 'child'
  slot.place = call.place
}

function count(run: RunState, call: AgentCall, parent: AgentCall): void {
  const invocation = baseInvocation(parent, call.agent.id)
  run.invocations.set(invocation, 1 + (run.invocations.get(invocation) ?? 0))
}

/** The invocation id of a child before it is numbered [K19]. */
export function baseInvocation(parent: AgentCall, agent: string): string {
  return `${parent.place.invocation}.sub.${agent}`
}

function activate(call: AgentCall): void {
  call.active = true
  const { messages, turns } = call.document
  turns.push({ from: messages.length, start: call.start, isRoot: call.parent === null })
  if (call.firstMessage === -1) call.firstMessage = messages.length
  if (call.parent !== null)
    call.document.inbox.push({ text: call.scrub === null ? call.message : call.scrub(call.message) })
  if (call.initial.length > 0) beginWith(call)
}

function foldToolStart(run: RunState | null, entry: Entry & { body: ToolStartBody }): void {
  const call = run?.calls.get(entry.place.parentCall ?? '')
  const slot = call?.slots.find((one) => one.asked.id === entry.body.toolCallId)
  if (call === undefined) return
  countersOf(call).toolCalls += 1
  if (slot === undefined) return
  slot.state = 'started'
  slot.place = entry.place
  slot.name = entry.body.name
  slot.epoch = entry.epoch
  run?.slots.set(entry.place.call, slot)
}

function foldEnd(state: ConversationState, run: RunState | null, entry: Entry & { type: 'end' }): void {
  if (entry.kind === 'model') return foldReply(run, entry.place, entry.body)
  if (entry.kind === 'tool') return foldToolOver(run, entry.place, resultText(entry.body))
  return foldAgentOver(state, run, entry)
}

function foldReply(run: RunState | null, place: CallPlace, body: ModelEndBody): void {
  const call = run?.calls.get(place.call)
  if (run === null || call === undefined) return
  run.modelCalls += 1
  addModelCall(countersOf(call), body.usage)
  run.tokens += (body.usage?.inputTokens ?? 0) + (body.usage?.outputTokens ?? 0)
  run.costUsd = roundCost(run.costUsd + (body.usage?.costUsd ?? 0))
  if (body.purpose !== undefined) return
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
    answered: null,
    passed: null,
    content: '',
    epoch: 0,
  }
}

function foldToolError(run: RunState | null, place: CallPlace, body: ErrorBody): void {
  const call = run?.calls.get(place.parentCall ?? '')
  if (call !== undefined) gatherError(call, body.detail)
  foldToolOver(run, place, errorText(body))
}

/** An error that its call's caller may read goes through what the call itself may not see [D15]. */
function gatherError({ gathered, scrub }: AgentCall, detail: string): void {
  gathered?.errors.push(scrub === null ? detail : scrub(detail))
}

function foldToolOver(run: RunState | null, place: CallPlace, content: string): void {
  const slot = run?.slots.get(place.call)
  if (slot === undefined) return
  run?.slots.delete(place.call)
  settle(slot, content)
}

function foldAgentOver(state: ConversationState, run: RunState | null, { place, body }: AgentOver): void {
  const call = run?.calls.get(place.call)
  if (run === null || call === undefined) return
  run.calls.delete(place.call)
  if ('code' in body && body.code === 'MODEL_CALL_FAILED') run.failedCalls += 1
  const { calls, inbox } = call.document
  // A call that ends in the middle of a step leaves no tool call unanswered: providers refuse such a history [P21].
  for (const slot of call.slots) if (slot.state !== 'settled') settle(slot, notRun)
  // A delegation that no model read is not history; what a person said stays.
  if (call.parent !== null && call.active) {
    for (const { told: unread = [] } of inbox.splice(0))
      for (const task of unread) state.untold.set(task.place.call, task)
  }
  calls.splice(calls.indexOf(call), 1)
  const next = calls[0]
  if (next !== undefined && !next.active) activate(next)
  if (call.parent === null) {
    state.run = null
    settleAccount(state, run, body)
    return noteEnd(state, run, body)
  }
  if (isTop(call)) return endTask(state, run, body)
  mergeUsage(call.parent.usage, call.usage)
  const slot = call.parent.slots.find((one) => one.place === call.place || one.asked.id === call.toolCallId)
  if ('code' in body) gatherError(call.parent, body.detail)
  if (slot === undefined) return
  const answer = contentOf(callersView(body, call.gathered))
  // Its caller need not declare what it was bound to: such a value stays below [C17].
  settle(slot, call.scrub === null ? answer : call.scrub(answer))
}

type AgentOver = Entry & { readonly kind: 'agent'; readonly body: AgentEndBody | ErrorBody }

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

function assertNever(entry: never): never {
  throw new Error(`unknown entry type ${JSON.stringify((entry as Entry).type)}`)
}
