/** Decides when and where a document is cut for its reader, and what a summary is made from [Rb38, Rb39]. */
import type { Trim } from '@witan/protocol'
import type { SummaryBody } from '@witan/protocol/entries'
import { attributed, markForeign } from '../model/attribution.ts'
import type { ModelMessage } from '../model/message.ts'
import { memoryLines, moveMemory } from './remembered.ts'
import { planLines } from './plan.ts'
import type { Words } from './said.ts'
import type { AgentCall, DocumentState, LiveJob, CallStart } from './state.ts'
import { historyOf, openHistoryOf } from './view.ts'

/** A planned cut: everything before `start` leaves the view. `summarize` is null if no summary replaces it. */
export interface Cut {
  readonly start: CallStart
  readonly dropped: readonly ModelMessage[]
  readonly summarize: Extract<Trim, { kind: 'summarize' }> | null
}

/**
 * The cut of a document's history before the first model call of `call`, or null. A cut lies between calls on the document, where
 * every tool call has its result, and keeps the message to `call` itself. Null while an interruption is open in the run [E46], and
 * if the message has files [Rb39].
 */
export function cutOf(call: AgentCall, run: LiveJob): Cut | null {
  const trim = call.agent.history?.trim ?? null
  if (trim === null || call.iterations > 0 || isWaiting(run) || bringsFiles(call.document)) return null
  const { callStarts } = call.document
  const current = callStarts.at(-1)
  if (current === undefined || current.from <= call.firstSaid) return null
  const { messages, indexOf } = historyOf(call)
  const end = indexOf(current.from)
  const history = messages.slice(0, end)
  if (trim.kind === 'summarize') {
    if (!isTooLong(call.document, history, trim)) return null
    return { start: current, dropped: openHistoryOf(call, current.from), summarize: trim }
  }
  const { messagesBefore, messagesAfter = messagesBefore } = trim
  if (history.length <= messagesBefore) return null
  const isFirstKept = ({ from }: CallStart) => from > call.firstSaid && end - indexOf(from) <= messagesAfter
  const kept = callStarts.find(isFirstKept) ?? current
  return { start: kept, dropped: messages.slice(0, indexOf(kept.from)), summarize: null }
}

/**
 * Cuts everything before the message to `call`, whatever the configured limits, because it exceeds the model's context. Null if
 * nothing is there, or the agent configures no trim.
 */
export function cutAll(call: AgentCall, run: LiveJob): Cut | null {
  const trim = call.agent.history?.trim ?? null
  const current = call.document.callStarts.at(-1)
  if (trim === null || current === undefined || current.from <= call.firstSaid || isWaiting(run)) return null
  return {
    start: current,
    dropped: openHistoryOf(call, current.from),
    summarize: trim.kind === 'summarize' ? trim : null,
  }
}

function bringsFiles({ inbox }: DocumentState): boolean {
  return inbox.some(({ files }) => files !== undefined)
}

function isWaiting(run: LiveJob): boolean {
  for (const toolCall of run.toolCalls.values()) if (toolCall.interruptions.length > 0) return true
  return false
}

/** Uses the provider's last token count, else four characters per token. False if a summary could not be shorter. */
function isTooLong(
  document: DocumentState,
  history: readonly ModelMessage[],
  trim: Extract<Trim, { kind: 'summarize' }>,
): boolean {
  const estimate = Math.ceil(sizeOf(history) / 4)
  return (document.tokens ?? estimate) > trim.maxTokensBefore && estimate > summaryTokens(trim)
}

/** The limit of a summary, in tokens. */
export function summaryTokens({ maxTokensAfter, maxTokensBefore }: Extract<Trim, { kind: 'summarize' }>): number {
  return maxTokensAfter ?? maxTokensBefore
}

function sizeOf(messages: readonly ModelMessage[]): number {
  let size = 0
  for (const message of messages) {
    size += message.content.length
    if (message.role !== 'assistant') continue
    for (const { name, arguments: written } of message.toolCalls ?? []) size += name.length + written.length
  }
  return size
}

/** The last seq before a call starts. A root's message is the entry just before its start. */
export function lastSeqBefore({ start, isRoot }: CallStart): number {
  return start.seq - (isRoot ? 2 : 1)
}

/** Applies a cut to the document, and puts its summary in front as a message of the runtime; behind it agents read what they remember and plan. */
export function dropHistory(document: DocumentState, { upToSeq, reader, text }: SummaryBody): void {
  const { said, callStarts, calls } = document
  const kept = callStarts.findLastIndex((start) => lastSeqBefore(start) <= upToSeq)
  const cut = callStarts[kept]?.from ?? 0
  if (cut === 0) return
  const summary = text === '' ? [] : [summaryWords(reader, text)]
  const front = [...summary, ...memoryLines(document, cut), ...planLines(document)]
  document.said = [...front, ...said.slice(cut)]
  document.views = []
  const moved = front.length - cut
  moveMemory(document, moved)
  callStarts.splice(0, kept)
  for (const start of callStarts) start.from += moved
  for (const call of calls) if (call.firstSaid > 0) call.firstSaid = Math.max(0, call.firstSaid + moved)
  document.tokens = null
}

function summaryWords(reader: string, summary: string): Words {
  const text = attributed('witan', reader, summary)
  return { kind: 'words', author: 'witan', to: reader, text, isAttributed: true, isScrubbed: true, scrub: null }
}

/** A history as text for a summary. It holds only what the reader's model has read or written [E47]. */
export function transcriptOf(messages: readonly ModelMessage[]): string {
  return messages.map(linesOf).join('\n')
}

function linesOf(message: ModelMessage): string {
  if (message.role === 'tool') return `result of ${message.name}: ${message.content}`
  if (message.role !== 'assistant') return `user: ${message.content}`
  const called = (message.toolCalls ?? []).map(
    ({ name, arguments: written }) => `assistant calls ${name}: ${markForeign(written)}`,
  )
  return [...(message.content === '' ? [] : [`assistant: ${markForeign(message.content)}`]), ...called].join('\n')
}
