/** Where what one entry says stands in the documents of a fold, entry by entry. */
import type { Entry } from '@witan/protocol/entries'
import type { Said, SaidResult } from '../../conversation/said.ts'
import {
  type AgentCall,
  type ConversationState,
  type DocumentState,
  liveJob,
  type ToolCall,
  type WaitingMessage,
} from '../../conversation/state.ts'

/** What holds an entry: parts of documents, and messages that wait. */
type Holder = Said | SaidResult | WaitingMessage

/** How far an entry is followed. */
export interface Traces {
  readonly entry: Entry
  /** What it says, if others may pass it on: in the words of others its beginning says that it is there. */
  readonly text: string
  readonly holders: Set<Holder>
  /** Those of the holders that stand for it as a summary. */
  readonly summaries: Set<Holder>
  /** The call that said it, and those above it, which may answer with it. */
  readonly above: ReadonlySet<string>
  /** Calls that begin with it, and wait for others on their document. */
  readonly openings: Set<AgentCall>
  /** Workflows and agents that have read it and pass it on. */
  readonly passing: Set<AgentCall>
}

/** What an entry finds before it is folded. */
export interface Before {
  readonly call: AgentCall | null
  readonly toolCall: ToolCall | null
  /** Whether that had its result before. */
  readonly isSettled: boolean
  /** What waited in the document that it may change, and what stood there. */
  readonly unread: readonly WaitingMessage[]
  readonly said: readonly Said[]
}

/** How many characters of a text tell it: a longer one may be cut where it is passed on. */
const telling = 200

/** An entry that no fold has reached yet. `entries` are those of its log. */
export function tracesOf(entry: Entry, entries: readonly Entry[]): Traces {
  return {
    entry,
    text: textOf(entry).slice(0, telling),
    holders: new Set(),
    summaries: new Set(),
    above: new Set(entry.type === 'end' && entry.kind !== 'tool' ? callsAbove(entry, entries) : []),
    openings: new Set(),
    passing: new Set(),
  }
}

function* callsAbove({ place }: Entry, entries: readonly Entry[]): Generator<string> {
  const parents = new Map<string, string | null>()
  for (const one of entries) if (!parents.has(one.place.call)) parents.set(one.place.call, one.place.parentCall)
  for (let call: string | null | undefined = place.call; call != null; call = parents.get(call)) yield call
}

/** What an answer or a message says. */
function textOf({ type, kind, body }: Entry): string {
  if (type === 'message') return body.text
  return type === 'end' && kind !== 'tool' ? body.text : ''
}

/** Whether a text holds what the entry says, as it is or within JSON. */
function holds({ text }: Traces, other: string): boolean {
  if (text === '') return false
  return other.includes(text) || other.includes(JSON.stringify(text).slice(1, -1))
}

/** What is there before an entry is folded. */
export function beforeEntry(state: ConversationState, { type, job, place }: Entry): Before {
  const run = liveJob(state, job)
  const call = run?.calls.get(place.call) ?? null
  const toolCall = run?.toolCalls.get(place.call) ?? call?.askedBy ?? null
  const parent = run?.calls.get(place.parentCall ?? '')
  const document = (type === 'start' ? parent : call)?.document
  const isSettled = toolCall !== null && toolCall.result !== null
  return { call, toolCall, isSettled, unread: [...(document?.inbox ?? [])], said: [...(document?.said ?? [])] }
}

/** Follows what an entry says behind an entry that has been folded. */
export function afterEntry(
  traces: Traces,
  state: ConversationState,
  of: { readonly entry: Entry; readonly before: Before },
) {
  const { entry, before } = of
  const isIt = entry.seq === traces.entry.seq
  if (isIt) begin(traces, state, before)
  if (entry.type === 'end' || entry.type === 'error') goUp(traces, before, entry)
  if (entry.type === 'start' && entry.kind === 'agent') goDown(traces, state, { entry, before })
  if (entry.type === 'message') report(traces, state, entry)
  if (before.call === null) return
  if (entry.type === 'summary') summarize(traces, before, before.call.document)
  else if (entry.kind === 'model') read(traces, before, before.call.document)
}

/** The entry itself has been folded. */
function begin(traces: Traces, state: ConversationState, before: Before): void {
  const { type, kind, place, job } = traces.entry
  const call = liveJob(state, job)?.calls.get(place.call) ?? before.call
  const document = call?.document ?? documentAt(state, place.document)
  if (type === 'message') hold(traces, document?.inbox.at(-1))
  else if (type === 'end' && kind === 'model') hold(traces, call?.reply ?? document?.said.at(-1))
  else if (kind === 'tool' && type !== 'start') hold(traces, before.toolCall?.result)
  else if (type === 'error' && kind === 'agent') hold(traces, before.call?.askedBy?.result)
  else if (type === 'summary' && document?.said[0] !== undefined) standFor(traces, document.said[0])
}

function documentAt(state: ConversationState, path: string): DocumentState | undefined {
  for (const document of state.documents.values()) if (document.path === path) return document
  return undefined
}

function hold({ holders }: Traces, holder: Holder | null | undefined): void {
  if (holder !== null && holder !== undefined) holders.add(holder)
}

function standFor(traces: Traces, said: Said): void {
  hold(traces, said)
  traces.summaries.add(said)
}

/** The answer of a call above is the result of who asked for it; a tool of such a call may read the answer of a task. */
function goUp(
  traces: Traces,
  { toolCall, isSettled }: Before,
  { kind, place, body }: Entry & { readonly type: 'end' | 'error' },
): void {
  const { result } = toolCall ?? {}
  if (kind === 'model' || result == null || isSettled) return
  const isAbove = traces.above.has(kind === 'tool' ? (place.parentCall ?? '') : place.call)
  // A later call of its agent may ask for a task by its id.
  if (!isAbove && !(kind === 'tool' && [...traces.above].some((call) => result.content.includes(call)))) return
  // What is hidden from who asked stands in the answer, and not in the result.
  const isAnswer = kind === 'agent' && 'text' in body && (holds(traces, body.text) || isSilent(traces, place.call))
  if (isAnswer || holds(traces, result.content)) hold(traces, result)
}

/** An answer without a text is known by its call alone. */
function isSilent({ text, entry }: Traces, call: string): boolean {
  return text === '' && entry.place.call === call
}

/** A call begins with what its message holds: a task that is the entry, or what a workflow passes on, or an agent that is criticised. */
function goDown(
  traces: Traces,
  state: ConversationState,
  {
    entry,
    before,
  }: { readonly entry: Entry & { readonly type: 'start'; readonly kind: 'agent' }; readonly before: Before },
): void {
  const { place, job, body } = entry
  const call = (liveJob(state, place.call) ?? liveJob(state, job))?.calls.get(place.call)
  if (call === undefined || call.parent === null) return
  // A step reads what came before it, a critic what its caller was asked and has answered.
  const quotes = body.step !== undefined || body.critique === true || body.guardrail !== undefined
  const isQuoted = quotes && passesOn(traces, call.parent, before) && holds(traces, body.message)
  const isPassed = isQuoted || holds(traces, body.exchange?.soFar ?? '')
  if (!isPassed && entry.seq !== traces.entry.seq) return
  if (isPassed) traces.passing.add(call.parent)
  traces.openings.add(call)
}

/** Whether a workflow has read the entry in its input, or as the answer of a step; or an agent in its document, or said it. */
function passesOn({ passing, above, holders, openings }: Traces, parent: AgentCall, { unread }: Before): boolean {
  if (passing.has(parent) || above.has(parent.place.call) || openings.has(parent)) return true
  return unread.some((one) => holders.has(one)) || isOpening(holders, parent)
}

/** A workflow below another begins with a message that no document has. */
function isOpening(holders: ReadonlySet<Holder>, { document }: AgentCall): boolean {
  return document.inbox.some((one) => holders.has(one)) || document.said.some((one) => holders.has(one))
}

/** A task that nobody waited for is reported in a message. */
function report(traces: Traces, state: ConversationState, entry: Entry & { readonly type: 'message' }): void {
  const { place, body } = entry
  if (body.tasks?.some((task) => traces.above.has(task)) !== true || !holds(traces, body.text)) return
  hold(traces, documentAt(state, place.document)?.inbox.at(-1))
}

/** What was cut is read in its summary. */
function summarize(traces: Traces, before: Before, { said }: DocumentState): void {
  const isCut = before.said.some((one) => isHeld(traces, one) && !said.includes(one))
  const [front] = said
  if (isCut && front?.kind === 'words' && !before.said.includes(front)) standFor(traces, front)
}

/** Messages that waited have become words of the document. */
function read(traces: Traces, { unread, said: before }: Before, { said, inbox }: DocumentState): void {
  for (const waiting of unread) {
    if (!traces.holders.has(waiting) || inbox.includes(waiting)) continue
    const isIt = (one: Said) => one.kind === 'words' && one.text === waiting.text && one.author === waiting.author
    hold(
      traces,
      said.findLast((one) => isIt(one) && !before.includes(one)),
    )
  }
}

/** Whether a part of a document holds it. */
export function isHeld({ holders }: Traces, said: Said): boolean {
  return holders.has(said) || (said.kind === 'results' && said.results.some((one) => holders.has(one)))
}
