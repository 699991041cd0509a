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
  /** What it says, if others may pass it on. */
  readonly text: string
  readonly holders: Set<Holder>
  /** Those of the holders that stand for it as a summary. */
  readonly summaries: Set<Holder>
  /** The calls whose answer it is: its own, and those that end with the same answer. */
  readonly answering: Set<string>
  /** Calls that begin with it, and wait for others on their document. */
  readonly openings: Set<AgentCall>
  /** Workflows that have read it and pass it on. */
  readonly passing: Set<AgentCall>
}

/** What an entry finds before it is folded. */
export interface Before {
  readonly call: AgentCall | null
  readonly toolCall: ToolCall | null
  /** What waited in the document that it may change, and what stood there. */
  readonly unread: readonly WaitingMessage[]
  readonly said: readonly Said[]
}

/** An entry that no fold has reached yet. */
export function tracesOf(entry: Entry): Traces {
  const { type, kind, place } = entry
  const answers = type === 'end' && kind !== 'tool'
  return {
    entry,
    text: textOf(entry),
    holders: new Set(),
    summaries: new Set(),
    answering: new Set(answers ? [place.call] : []),
    openings: new Set(),
    passing: new Set(),
  }
}

/** What an answer or a message says. */
function textOf({ type, kind, body }: Entry): string {
  if (type === 'message') return body.text
  return type === 'end' && kind !== 'tool' ? body.text : ''
}

/** What is there before an entry is folded. */
export function beforeEntry(state: ConversationState, { type, job, place }: Entry): Before {
  const run = liveJob(state, job)
  const call = run?.calls.get(place.call) ?? null
  const toolCall = run?.toolCalls.get(place.call) ?? call?.askedBy ?? null
  const parent = run?.calls.get(place.parentCall ?? '')
  const document = (type === 'start' ? parent : call)?.document
  return { call, toolCall, unread: [...(document?.inbox ?? [])], said: [...(document?.said ?? [])] }
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
  if (!isIt && traces.holders.size === 0 && traces.answering.size === 0) return
  if (entry.type === 'end' && entry.kind === 'agent') goUp(traces, before, entry.body.text)
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

/** The answer of a call is the result of who asked for it, and the answer of who handed over to it or has it as a step. */
function goUp(traces: Traces, { call }: Before, text: string): void {
  if (call === null || !traces.answering.has(call.place.call) || !text.includes(traces.text)) return
  hold(traces, call.askedBy?.result)
  if (call.parent !== null && (call.handOver !== null || call.step !== null))
    traces.answering.add(call.parent.place.call)
}

/** A call begins with what its message holds: a task that is the entry, or what a workflow passes on. */
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
  const isPassed =
    body.step !== undefined && passesOn(traces, call.parent, before) && body.message.includes(traces.text)
  if (!isPassed && entry.seq !== traces.entry.seq) return
  if (isPassed) traces.passing.add(call.parent)
  traces.openings.add(call)
}

/** Whether a workflow has read the entry in its input, or as the answer of a step. */
function passesOn({ passing, answering, holders }: Traces, workflow: AgentCall, { unread }: Before): boolean {
  if (passing.has(workflow) || unread.some((one) => holders.has(one))) return true
  return workflow.workflow?.steps.some(({ call }) => answering.has(call)) === true || isOpening(holders, workflow)
}

/** A workflow below another begins with a message that no document has. */
function isOpening(holders: ReadonlySet<Holder>, { document }: AgentCall): boolean {
  return document.inbox.some((one) => holders.has(one)) || document.said.some((one) => holders.has(one))
}

/** A task that nobody waited for is reported in a message. */
function report(traces: Traces, state: ConversationState, entry: Entry & { readonly type: 'message' }): void {
  const { place, body } = entry
  if (body.tasks?.some((task) => traces.answering.has(task)) !== true) return
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
