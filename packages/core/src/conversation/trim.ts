/** Keeping a document within its bounds: when its reader's view is cut, where, and what a summary is made from [Rb38, Rb39]. */
import type { Trim } from '@witan/protocol'
import type { SummaryBody } from '@witan/protocol/entries'
import type { ModelMessage } from '../model/message.ts'
import type { AgentCall, DocumentState, RunState, Turn } from './state.ts'

/** A cut to be made: everything before `turn` leaves the view. `summarize` is null where nothing takes its place. */
export interface Cut {
  readonly turn: Turn
  readonly dropped: readonly ModelMessage[]
  readonly summarize: Extract<Trim, { kind: 'summarize' }> | null
}

/**
 * Whether the history of a document is to be cut before `call` thinks for the first time, or null. A cut is made between
 * activations only: there every call has its result, and what the call itself was asked stays whole. Never while an action is
 * open anywhere in the run [E46].
 */
export function cutOf(call: AgentCall, run: RunState): Cut | null {
  const trim = call.agent.history?.trim ?? null
  if (trim === null || call.iterations > 0 || isWaiting(run)) return null
  const { messages, turns } = call.document
  const current = turns.at(-1)
  if (current === undefined || current.from <= call.firstMessage) return null
  const history = messages.slice(call.firstMessage, current.from)
  if (trim.kind === 'summarize') {
    if (!isTooLong(call.document, history, trim)) return null
    return { turn: current, dropped: history, summarize: trim }
  }
  const { messagesBefore, messagesAfter = messagesBefore } = trim
  if (history.length <= messagesBefore) return null
  const isFirstKept = ({ from }: Turn) => from > call.firstMessage && current.from - from <= messagesAfter
  const kept = turns.find(isFirstKept) ?? current
  return { turn: kept, dropped: messages.slice(call.firstMessage, kept.from), summarize: null }
}

function isWaiting(run: RunState): boolean {
  for (const slot of run.slots.values()) if (slot.interruption !== null) return true
  return false
}

/** What the provider counted last, else four characters to a token; never where a summary could not be shorter. */
function isTooLong(
  document: DocumentState,
  history: readonly ModelMessage[],
  trim: Extract<Trim, { kind: 'summarize' }>,
): boolean {
  const estimate = Math.ceil(sizeOf(history) / 4)
  return (document.tokens ?? estimate) > trim.maxTokensBefore && estimate > summaryTokens(trim)
}

/** How long a summary may be, in tokens. */
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

/** The last seq before a turn whose start is stored. A root's message stands just before its start. */
export function lastSeqBefore({ start, isRoot }: Turn): number {
  return start.seq - (isRoot ? 2 : 1)
}

/** Drops what a cut names from the document's messages and puts its text in front, said by the runtime. */
export function dropHistory(document: DocumentState, { upToSeq, reader, text }: SummaryBody): void {
  const { messages, turns, calls } = document
  const kept = turns.findLastIndex((turn) => lastSeqBefore(turn) <= upToSeq)
  const cut = turns[kept]?.from ?? 0
  if (cut === 0) return
  const front: ModelMessage[] = text === '' ? [] : [{ role: 'user', content: `[from @witan to @${reader}] ${text}` }]
  messages.splice(0, cut, ...front)
  const moved = front.length - cut
  turns.splice(0, kept)
  for (const turn of turns) turn.from += moved
  for (const call of calls) if (call.firstMessage > 0) call.firstMessage = Math.max(0, call.firstMessage + moved)
  document.tokens = null
}

/** A history in words, for whoever is to summarise it: nothing but what the reader's model has read or said [E47]. */
export function transcriptOf(messages: readonly ModelMessage[]): string {
  return messages.map(linesOf).join('\n')
}

function linesOf(message: ModelMessage): string {
  if (message.role === 'tool') return `result of ${message.name}: ${message.content}`
  if (message.role !== 'assistant') return `user: ${message.content}`
  const called = (message.toolCalls ?? []).map(({ name, arguments: written }) => `assistant calls ${name}: ${written}`)
  return [...(message.content === '' ? [] : [`assistant: ${message.content}`]), ...called].join('\n')
}
