/** Events in, view out: the one place where the Studio learns what happened. Pure; the same events give the same view. */
import type { Event, Interruption } from '@witan/protocol'
import { numberOf, recordOf, textOf, textsOf } from './content.ts'
import { interruptionOf, toolOf } from './read-interruption.ts'
import type { CallView, ChatMessage, ConversationView } from './run-view.ts'

/** What the runtime itself tells an agent, such as to answer again, is no part of the chat. */
const runtimeAuthor = 'witan'

interface Draft {
  lastSeq: number
  readonly calls: Map<string, CallView>
  readonly runs: string[]
  readonly messages: ChatMessage[]
  readonly open: Map<string, Interruption>
  readonly cancelling: Set<string>
}

/** Takes a batch of events in. Repeated ones (a resumed stream) change nothing; unknown types are passed over. */
export function foldEvents(view: ConversationView, events: readonly Event[]): ConversationView {
  if (events.length === 0) return view
  const draft: Draft = {
    lastSeq: view.lastSeq,
    calls: new Map(view.calls),
    runs: [...view.runs],
    messages: [...view.messages],
    open: new Map(view.open),
    cancelling: new Set(view.cancelling),
  }
  for (const event of events) {
    if (event.seq !== undefined && event.seq <= draft.lastSeq) continue
    if (event.seq !== undefined) draft.lastSeq = event.seq
    takeIn(draft, event)
  }
  return draft
}

type Handler = (draft: Draft, event: Event) => void

const handlers: Readonly<Record<string, Handler>> = {
  delta: onDelta,
  message: onMessage,
  start: onStart,
  end: onEnd,
  error: onError,
  resolved: onResolved,
  notice: onNotice,
  task: onTask,
  cancel: (draft, event) => void draft.cancelling.add(event.callId),
}

function takeIn(draft: Draft, event: Event): void {
  const handler = event.type.endsWith('_required') ? onRequired : handlers[event.type]
  handler?.(draft, event)
}

function onMessage(draft: Draft, event: Event): void {
  const author = textOf(event.content, 'author') || event.author
  const text = textOf(event.content, 'text')
  if (event.callId !== event.rootCallId) return addWords(draft, event.callId, { seq: event.seq ?? draft.lastSeq, text })
  if (author === runtimeAuthor) {
    addNotice(draft, event.callId, { code: 'RUNTIME', detail: text })
    return
  }
  draft.messages.push({ seq: event.seq ?? draft.lastSeq, rootCallId: event.rootCallId, author, text })
}

function addWords(draft: Draft, callId: string, words: CallView['told'][number]): void {
  const call = draft.calls.get(callId)
  if (call?.background === true) draft.calls.set(callId, { ...call, told: [...call.told, words] })
}

function onTask(draft: Draft, event: Event): void {
  const call = draft.calls.get(event.callId)
  if (call !== undefined) draft.calls.set(call.callId, { ...call, background: true })
}

function onStart(draft: Draft, event: Event): void {
  if (event.kind !== 'agent' && event.kind !== 'tool') return
  const known = draft.calls.get(event.callId)
  const name = event.kind === 'agent' ? agentOf(event) : textOf(event.content, 'name')
  const call: CallView = {
    ...(known ?? blank(event)),
    kind: event.kind,
    name: name || event.author,
    task: textOf(event.content, 'message'),
    arguments: event.content.arguments ?? null,
    bound: textsOf(event.content, 'bound'),
    parameters: recordOf(event.content, 'parameters'),
    hidden: event.content.hidden === true,
  }
  if (known === undefined) attach(draft, call)
  else draft.calls.set(call.callId, call)
}

function onDelta(draft: Draft, event: Event): void {
  const call = draft.calls.get(event.callId)
  if (call === undefined || call.endedAt !== null) return
  const text = textOf(event.content, 'text')
  const attempt = numberOf(event.content, 'attempt') ?? 0
  const anew = event.content.snapshot === true || call.textEnded || attempt > call.attempt
  if (!anew && attempt < call.attempt) return
  draft.calls.set(call.callId, { ...call, text: anew ? text : call.text + text, attempt, textEnded: false })
}

function onEnd(draft: Draft, event: Event): void {
  if (event.kind === 'model') {
    onModelEnd(draft, event)
    return
  }
  const call = draft.calls.get(event.callId)
  if (call === undefined) return
  const ended = { ...call, endedAt: event.at, interruptionId: null }
  draft.cancelling.delete(call.callId)
  if (event.kind === 'tool') {
    const truncated = event.content.truncated === true
    const state = call.state === 'cancelled' ? 'cancelled' : 'completed'
    draft.calls.set(call.callId, { ...ended, state, result: event.content.result ?? null, truncated })
    return
  }
  const finishReason = textOf(event.content, 'finishReason') || null
  const state = finishReason === 'cancelled' ? 'cancelled' : finishReason === 'error' ? 'failed' : 'completed'
  const text = textOf(event.content, 'text')
  draft.calls.set(call.callId, { ...ended, state, finishReason, text, output: event.content.output ?? null })
  if (call.callId === call.rootCallId) settle(draft, call.rootCallId, state !== 'completed')
}

function onModelEnd(draft: Draft, event: Event): void {
  const call = draft.calls.get(event.callId) ?? draft.calls.get(event.parentCallId ?? '')
  if (call === undefined) return
  const usage = recordOf(event.content, 'usage') ?? {}
  const input = numberOf(usage, 'inputTokens')
  const output = numberOf(usage, 'outputTokens')
  const said = input !== null && output !== null && usage.complete !== false
  draft.calls.set(call.callId, {
    ...call,
    model: textOf(event.content, 'model') || call.model,
    modelCalls: call.modelCalls + 1,
    textEnded: true,
    tokens: {
      input: call.tokens.input + (input ?? 0),
      output: call.tokens.output + (output ?? 0),
      complete: call.tokens.complete && said,
    },
  })
}

function onError(draft: Draft, event: Event): void {
  const error = { code: textOf(event.content, 'code') || 'INTERNAL', detail: textOf(event.content, 'detail') }
  if (event.kind === 'model') {
    addNotice(draft, event.callId, error)
    return
  }
  const call = draft.calls.get(event.callId)
  if (call === undefined) return
  draft.cancelling.delete(call.callId)
  const cancelled = error.code === 'RUN_CANCELLED'
  const state = cancelled ? 'cancelled' : 'failed'
  draft.calls.set(call.callId, { ...call, state, error, text: '', endedAt: event.at, interruptionId: null })
  if (call.callId === call.rootCallId) settle(draft, call.rootCallId, true)
}

function onRequired(draft: Draft, event: Event): void {
  const interruption = interruptionOf(event)
  if (interruption === null) return
  draft.open.set(interruption.id, interruption)
  const parent = event.parentCallId === null ? undefined : draft.calls.get(event.parentCallId)
  const known = draft.calls.get(interruption.callId)
  const call = known ?? {
    ...blank(event),
    callId: interruption.callId,
    kind: 'tool' as const,
    ...toolOf(interruption),
    parentCallId: parent?.callId ?? event.rootCallId,
  }
  const waiting: CallView = { ...call, state: 'waiting', interruptionId: interruption.id }
  if (known === undefined) attach(draft, waiting)
  else draft.calls.set(waiting.callId, waiting)
}

function onResolved(draft: Draft, event: Event): void {
  const id = textOf(event.content, 'id')
  const callId = draft.open.get(id)?.callId ?? event.callId
  draft.open.delete(id)
  const call = draft.calls.get(callId)
  if (call === undefined || call.endedAt !== null) return
  const state = textOf(event.content, 'state') === 'answered' ? 'running' : 'cancelled'
  draft.calls.set(callId, { ...call, state, interruptionId: null })
}

function onNotice(draft: Draft, event: Event): void {
  const notice = { code: textOf(event.content, 'code'), detail: textOf(event.content, 'detail') }
  addNotice(draft, event.callId, notice)
}

function addNotice(draft: Draft, callId: string, notice: { code: string; detail: string }): void {
  const call = draft.calls.get(callId)
  if (call !== undefined) draft.calls.set(callId, { ...call, notices: [...call.notices, notice] })
}

function attach(draft: Draft, call: CallView): void {
  draft.calls.set(call.callId, call)
  if (call.callId === call.rootCallId) {
    draft.runs.push(call.callId)
    return
  }
  const parent = draft.calls.get(call.parentCallId ?? call.rootCallId)
  if (parent === undefined) return
  // What an agent says between its steps is not in the log: it goes, so that a reload shows the same.
  const text = parent.textEnded ? '' : parent.text
  draft.calls.set(parent.callId, { ...parent, text, children: [...parent.children, call.callId] })
}

/** A run is over: nothing of it waits any more, and in a stopped run no call goes on but its tasks. */
function settle(draft: Draft, rootCallId: string, stopped: boolean): void {
  draft.cancelling.delete(rootCallId)
  if (!stopped) return
  const pending = [rootCallId]
  for (let id = pending.pop(); id !== undefined; id = pending.pop()) {
    const call = draft.calls.get(id)
    if (call === undefined || call.background) continue
    pending.push(...call.children)
    if (call.endedAt !== null) continue
    if (call.interruptionId !== null) draft.open.delete(call.interruptionId)
    draft.calls.set(id, { ...call, state: 'cancelled', interruptionId: null })
  }
}

/** The agent a `start` speaks of: the last part of its path. */
function agentOf(event: Event): string {
  return event.agentPath.split('/').at(-1) ?? event.author
}

function blank(event: Event): CallView {
  return {
    callId: event.callId,
    parentCallId: event.parentCallId,
    rootCallId: event.rootCallId,
    kind: 'tool',
    name: '',
    agentPath: event.agentPath,
    document: event.document,
    state: 'running',
    task: '',
    text: '',
    arguments: null,
    bound: [],
    parameters: null,
    result: null,
    output: null,
    truncated: false,
    finishReason: null,
    error: null,
    notices: [],
    interruptionId: null,
    model: null,
    modelCalls: 0,
    tokens: { input: 0, output: 0, complete: true },
    hidden: false,
    background: false,
    told: [],
    startedAt: event.at,
    endedAt: null,
    children: [],
    attempt: 0,
    textEnded: false,
  }
}
