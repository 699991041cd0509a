/** Folds events into a view of the conversation. It has no other input: the same events give the same view. */
import type { AnyEvent, Event, EventOf } from '@witan/protocol'
import type { Artifact } from '@witan/protocol/entries'
import type { FileReference } from '@witan/protocol/files'
import type { Asked, CallNotice, CallView, ChatMessage, ConversationView, PersonChange } from './conversation-view.ts'
import type { Writable } from '@witan/protocol/entries'
import { type Call, newCall } from './folded-call.ts'
import { readArtifact } from './read-artifact.ts'
import { type RequiredEvent, readInterruption, waitingTool } from './read-interruption.ts'
import { noteFact } from './note-fact.ts'
import { readSources } from './read-knowledge.ts'
import { addToPlan } from './read-plan.ts'
import { noteProgress } from './read-progress.ts'
import { readStart } from './read-start.ts'
import { isRecord, number, records, text, texts } from './read-value.ts'
import { addReasoning, dropReasoning, settleReasoning, stopReasoning } from './reasoned.ts'

/** A view that is built from a conversation's events, live or stored, with or without deltas. */
export interface ConversationFold {
  /** Changes in place with each event. */
  readonly view: ConversationView
  /**
   * Applies one event and returns the call that it changed, or null. Repeated events and unknown types change
   * nothing. It never throws for what a server sends; its cost does not grow with the history.
   */
  take(event: AnyEvent): CallView | null
  /** No more events will come, for example after a delete: marks live calls as stopped. */
  close(): void
}

/** Creates an empty fold. Pass it the events of one conversation in order. */
export function createConversationFold(): ConversationFold {
  const view: Draft = {
    lastSeq: 0,
    calls: new Map(),
    runs: [],
    messages: [],
    changes: [],
    artifacts: new Map(),
    open: new Map(),
    cancelling: new Set(),
    asked: new Map(),
  }
  return { view, take: (event) => take(view, event), close: () => close(view) }
}

interface Draft extends ConversationView {
  lastSeq: number
  readonly calls: Map<string, Call>
  readonly runs: string[]
  readonly messages: ChatMessage[]
  readonly changes: PersonChange[]
  readonly artifacts: Map<string, Artifact>
  readonly open: Map<string, Asked['interruption']>
  readonly cancelling: Set<string>
  /** All interruptions so far, by id. */
  readonly asked: Map<string, Writable<Asked>>
}

function take(view: Draft, given: AnyEvent): Call | null {
  if (!isRecord(given) || !isRecord(given.content)) return null
  if (typeof given.callId !== 'string' || typeof given.rootCallId !== 'string') return null
  const { seq } = given
  if (seq !== undefined) {
    if (typeof seq !== 'number' || !(seq > view.lastSeq)) return null
    view.lastSeq = seq
  }
  return dispatch(view, given as Event)
}

function dispatch(view: Draft, event: Event): Call | null {
  switch (event.type) {
    case 'delta':
      return onDelta(view, event)
    case 'message':
      return onMessage(view, event)
    case 'start':
      return onStart(view, event)
    case 'end':
      return onEnd(view, event)
    case 'error':
      return onError(view, event)
    case 'action_required':
    case 'question_required':
    case 'approval_required':
    case 'message_required':
    case 'policy_required':
      return onRequired(view, event)
    case 'resolved':
      return onResolved(view, event)
    case 'task':
      return onTask(view, event)
    case 'notice':
      return addNotice(view, event.callId, { code: text(event.content.code), detail: text(event.content.detail) })
    case 'cancel':
      view.cancelling.add(event.callId)
      return view.calls.get(event.callId) ?? null
    case 'transfer':
      return onTransfer(view, event)
    case 'participant':
      return onParticipant(view, event)
    case 'artifact':
      return onArtifact(view, event)
    case 'retrieval':
    case 'memory':
    case 'plan':
    case 'critique':
    case 'hook':
    case 'tools':
      return noteFact(view, event)
    case 'summary':
    case 'checkpoint':
      return null
    default:
      event satisfies never // A newer server may send other types.
      return null
  }
}

/** Messages of the runtime to an agent, such as a request to answer again, are not part of the chat. Older servers send no `authorKind`. */
function isOfRuntime({ authorKind }: Event, author: string): boolean {
  return authorKind === 'runtime' || author === 'witan'
}

function onMessage(view: Draft, event: EventOf<'message'>): Call | null {
  const author = text(event.content.author) || text(event.author)
  const words = { seq: event.seq ?? view.lastSeq, text: text(event.content.text) }
  const call = view.calls.get(event.callId) ?? null
  // A call with control of the run belongs to the root's invocation [K07].
  if (event.invocationId !== event.rootCallId && event.callId !== event.rootCallId) {
    if (call?.background) call.taskMessages.push(words)
    return call
  }
  if (isOfRuntime(event, author)) return addNotice(view, event.callId, { code: 'RUNTIME', detail: words.text })
  const files = filesOf(event.content.files)
  const message = { ...words, rootCallId: event.rootCallId, author }
  view.messages.push(files.length === 0 ? message : { ...message, files })
  return call
}

function onParticipant(view: Draft, { seq, at, content }: EventOf<'participant'>): null {
  const { user, name, change, by } = content
  const isLeft = change === 'left'
  view.changes.push({
    seq: seq ?? view.lastSeq,
    at: text(at),
    user: text(user),
    name: typeof name === 'string' ? name : null,
    change: isLeft ? 'left' : 'joined',
    by: text(by),
  })
  return null
}

function onArtifact(view: Draft, { callId, content }: EventOf<'artifact'>): Call | null {
  const artifact = readArtifact(content)
  if (artifact === null || view.artifacts.has(artifact.id)) return null
  view.artifacts.set(artifact.id, artifact)
  const call = view.calls.get(callId) ?? null
  call?.artifacts.push(artifact)
  return call
}

function filesOf(given: unknown): FileReference[] {
  return records(given).map(({ digest, mediaType, bytes, name }) => ({
    digest: text(digest),
    mediaType: text(mediaType),
    bytes: number(bytes) ?? 0,
    name: typeof name === 'string' ? name : null,
  }))
}

function onTask(view: Draft, event: EventOf<'task'>): Call | null {
  const call = view.calls.get(event.callId)
  if (call === undefined) return null
  call.background = true
  return call
}

function onStart(view: Draft, event: EventOf<'start'>): Call | null {
  if (event.kind !== 'agent' && event.kind !== 'tool') return null
  const call = view.calls.get(event.callId) ?? addCall(view, event)
  call.endedAt = null
  Object.assign(call, readStart(event))
  addToPlan(view.calls.get(call.parentCallId ?? ''), call)
  return call
}

/** Control that comes back is a property of the target's call, because no new call starts then. */
function onTransfer(view: Draft, { callId, content }: EventOf<'transfer'>): Call | null {
  if (content.returned !== true) return null
  const { children = [] } = view.calls.get(callId) ?? {}
  const target = view.calls.get(children.findLast((id) => view.calls.get(id)?.handedFrom === callId) ?? '')
  if (target !== undefined) target.returned = true
  return target ?? null
}

function onDelta(view: Draft, event: EventOf<'delta'>): Call | null {
  const call = view.calls.get(event.callId)
  if (event.kind === 'tool') return noteProgress(call, event.content)
  const { content } = event
  const attempt = number(content.attempt) ?? 0
  if (call === undefined || call.endedAt !== null || attempt < call.attempt) return null
  const isHigher = attempt > call.attempt
  const at = text(event.at)
  if (event.kind === 'reasoning') {
    const isNew = isHigher || content.snapshot === true
    call.reasoned = addReasoning(call.reasoned, { text: text(event.content.reasoning), at, isNew })
    if (isHigher) call.text = ''
  } else {
    const isNew = isHigher || call.textEnded || content.snapshot === true
    call.text = isNew ? text(event.content.text) : call.text + text(event.content.text)
    call.reasoned = isHigher ? dropReasoning(call.reasoned) : stopReasoning(call.reasoned, at)
  }
  call.attempt = attempt
  call.textEnded = false
  return call
}

function onEnd(view: Draft, event: EventOf<'end'>): Call | null {
  if (event.kind === 'model') return onModelEnd(view, event)
  const call = view.calls.get(event.callId)
  if (call === undefined) return null
  call.answerSeq = event.kind === 'tool' ? (event.seq ?? null) : (call.answerSeq ?? event.seq ?? null)
  if (event.kind === 'tool') {
    const { result, truncated, bound } = event.content
    for (const one of texts(bound)) call.bound.push(one)
    call.result = result ?? null
    call.truncated = truncated === true
    call.transferToAgent = isRecord(event.actions) ? text(event.actions.transferToAgent) || null : null
    return endCall(view, call, { at: event.at, state: 'completed' })
  }
  const { text: said, output, finishReason, sources } = event.content
  call.finishReason = text(finishReason) || null
  call.text = text(said)
  call.output = output ?? null
  call.sources = readSources(sources)
  takeRemoteUsage(call, event.content.usage)
  const state = finishReason === 'cancelled' ? 'cancelled' : finishReason === 'error' ? 'failed' : 'completed'
  return endCall(view, call, { at: event.at, state })
}

function onModelEnd(view: Draft, event: Extract<Event, { type: 'end'; kind: 'model' }>): Call | null {
  const call = view.calls.get(event.callId) ?? view.calls.get(event.parentCallId ?? '')
  if (call === undefined) return null
  const usage = event.content.usage ?? null
  const [input, output] = [number(usage?.inputTokens), number(usage?.outputTokens)]
  call.model = text(event.content.model) || call.model
  call.modelCalls += 1
  const { purpose = 'answer' } = event.content as { readonly purpose?: string }
  if (call.callId === event.callId && purpose === 'answer') call.answerSeq = event.seq ?? call.answerSeq
  call.textEnded = true
  call.reasoned = settleReasoning(call.reasoned, text(event.at))
  call.tokens = {
    input: call.tokens.input + (input ?? 0),
    output: call.tokens.output + (output ?? 0),
    complete: call.tokens.complete && input !== null && output !== null,
  }
  return call
}

function onError(view: Draft, event: EventOf<'error'>): Call | null {
  const call = view.calls.get(event.callId)
  if (call === undefined || (event.kind !== 'agent' && event.kind !== 'tool')) return null
  const { code, detail } = event.content
  if (event.kind === 'tool') for (const one of texts(event.content.bound)) call.bound.push(one)
  call.error = { code: text(code) || 'INTERNAL', detail: text(detail) }
  call.answerSeq = event.seq ?? call.answerSeq
  call.text = ''
  takeRemoteUsage(call, null)
  return endCall(view, call, { at: event.at, state: code === 'RUN_CANCELLED' ? 'cancelled' : 'failed' })
}

/** No model reply of an agent on another server is seen here: its end says what it has cost, as far as that is known, and an error does not. */
function takeRemoteUsage(call: Call, usage: unknown): void {
  if (call.remote === null) return
  const { inputTokens, outputTokens, complete } = isRecord(usage) ? usage : {}
  call.tokens = { input: number(inputTokens) ?? 0, output: number(outputTokens) ?? 0, complete: complete === true }
}

function onRequired(view: Draft, event: RequiredEvent): Call | null {
  const interruption = readInterruption(event)
  if (interruption === null) return null
  const { id, callId } = interruption
  const call = view.calls.get(callId) ?? Object.assign(addCall(view, { ...event, callId }), waitingTool(interruption))
  const asked = {
    interruption,
    askedAt: text(event.at),
    state: 'open',
    settledAt: null,
    by: null,
    answer: null,
  } as const
  view.open.set(id, interruption)
  view.asked.set(id, asked)
  call.asked.push(asked)
  call.state = 'waiting'
  call.interruptionId = id
  return call
}

function onResolved(view: Draft, { content, at }: EventOf<'resolved'>): Call | null {
  const id = text(content.id)
  const asked = view.asked.get(id)
  const call = view.calls.get(asked?.interruption.callId ?? '')
  view.open.delete(id)
  if (asked === undefined || call === undefined || call.endedAt !== null) return null
  const state = content.state === 'answered' || content.state === 'expired' ? content.state : 'cancelled'
  Object.assign(asked, { state, settledAt: text(at), by: text(content.by) || null, answer: content.answer ?? null })
  if (call.interruptionId !== id) return call
  // A call may ask several people at once.
  call.interruptionId = call.asked.findLast((one) => one.state === 'open')?.interruption.id ?? null
  if (call.interruptionId !== null) return call
  if (call.state === 'waiting') call.state = state === 'answered' ? 'running' : 'cancelled'
  // A call that an approval held has no other end than this.
  if (state === 'cancelled' && call.kind === 'tool') call.endedAt = text(at)
  return call
}

function addNotice(view: Draft, callId: string, notice: CallNotice): Call | null {
  const call = view.calls.get(callId)
  if (call === undefined) return null
  call.notices.push(notice)
  if (notice.code === 'USAGE_INCOMPLETE') call.tokens = { ...call.tokens, complete: false }
  return call
}

function endCall(view: Draft, call: Call, { at, state }: { at: string; state: CallView['state'] }): Call {
  const isFirst = call.endedAt === null
  call.state = state
  call.reasoned = stopReasoning(call.reasoned, text(at))
  call.endedAt = text(at)
  call.interruptionId = null
  call.progress = null
  view.cancelling.delete(call.callId)
  if (isFirst && call.kind === 'agent' && state !== 'completed') stopBelow(view, call)
  return call
}

/** Stops the calls below a stopped call, except tasks. Calls that were stopped before are skipped. */
function stopBelow(view: Draft, { children, endedAt }: Call): void {
  const pending = [...children]
  for (let id = pending.pop(); id !== undefined; id = pending.pop()) {
    const call = view.calls.get(id)
    if (call === undefined || call.background || call.state === 'cancelled') continue
    if (call.endedAt !== null && call.kind === 'agent') continue
    for (const child of call.children) pending.push(child)
    if (call.endedAt !== null) continue
    Object.assign(call, { state: 'cancelled', interruptionId: null, endedAt })
    for (const asked of call.asked) {
      if (asked.state !== 'open') continue
      view.open.delete(asked.interruption.id)
      Object.assign(asked, { state: 'cancelled', settledAt: endedAt })
    }
  }
}

function close(view: Draft): void {
  view.open.clear()
  view.cancelling.clear()
  for (const call of view.calls.values()) {
    if (call.endedAt === null) Object.assign(call, { state: 'cancelled', interruptionId: null })
  }
}

/** Adds a call below an existing one, so that no call is ever below itself. */
function addCall(view: Draft, event: Event): Call {
  const { callId, rootCallId } = event
  const isRoot = callId === rootCallId
  const parent = isRoot ? undefined : (view.calls.get(event.parentCallId ?? '') ?? view.calls.get(rootCallId))
  const call = newCall(event, parent?.callId ?? null)
  view.calls.set(callId, call)
  if (parent === undefined) view.runs.push(callId)
  else {
    // Text between steps is not in the log; it is removed here, so that a reload shows the same.
    if (parent.textEnded) parent.text = ''
    parent.children.push(callId)
  }
  return call
}
