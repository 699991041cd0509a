/** Records what peers say to each other: a message at the call that answers it, and its reply. */
import type { AgentEndBody, AnsweredMessage, CallPlace, EntryContent, ExchangeMessage } from '@witan/protocol/entries'
import { readJson } from '@witan/protocol/schemas'
import { exchangeKey } from '../tool/exchange.ts'
import type { ChildName } from '../conversation/address.ts'
import { mismatch } from '../conversation/fold-exchange.ts'
import { contentOf } from '../conversation/said.ts'
import { type AgentCall, callInControl, type LiveJob } from '../conversation/state.ts'
import { wouldDeadlock } from '../conversation/deadlock.ts'
import { type Job, record } from '../job/job.ts'
import { attributed } from '../model/attribution.ts'
import { validatorOf } from '../model/json-schema.ts'
import type { Spawn } from '../tool/waiting.ts'

/** What the start of a call says of the message that it answers. */
export function answeredMessage(
  { sent, reply }: NonNullable<Spawn['peerMessage']>,
  { job, parent, child }: { readonly job: Job; readonly parent: AgentCall; readonly child: Child },
): AnsweredMessage {
  const { id, protocol, revision, initiator, responder, name } = sent
  const message = { id, protocol, revision, initiator, responder, name, reply }
  // Without `soFar` the address is that of the peer's memory.
  if (!wouldDeadlock(job.log.state, parent, { ...child, exchange: {} })) return message
  const known = job.run.exchanges.get(exchangeKey(sent))
  return { ...message, soFar: known?.id === id ? latestOf(known.said) : '' }
}

/** How many characters of its exchange a fresh document begins with at most. Without a limit each one would be longer than the last. */
const longestSoFar = 16_000

/** The latest of what was said, whole; how much is left out is said. */
function latestOf(said: readonly string[]): string {
  let length = 0
  const isLeftOut = (one: string) => {
    length += one.length
    return length > longestSoFar
  }
  const from = said.length - said.toReversed().findIndex(isLeftOut)
  if (from > said.length) return said.join('\n\n')
  return [`(${from} earlier messages of this exchange are left out)`, ...said.slice(from)].join('\n\n')
}

type Child = Omit<ChildName, 'exchange'> & { readonly job: string }

/** Records a message at the place of the call that answers it. */
export function recordSent(
  job: Job,
  place: CallPlace,
  { sender, text, sent }: { readonly sender: AgentCall; readonly text: string; readonly sent: ExchangeMessage },
): void {
  const author = sender.agent.id
  record(job, { ...place, author }, { type: 'message', kind: null, body: { author, text, exchange: sent } })
}

/** Records the reply of a call that answers a message, before its end. */
export function recordReply(call: AgentCall, job: Job, content: EntryContent): void {
  const { place, exchange, parent, handOver } = call
  if (exchange === null || parent === null || handOver !== null || content.type !== 'end' || content.kind !== 'agent')
    return
  const { reply: _, soFar: __, ...ends } = exchange
  const body = replyIn(call, content.body)
  const author = place.author
  const text = attributed(author, parent.agent.id, contentOf(body))
  const { state, finished } = job.run.exchanges.get(exchangeKey(ends))?.standing ?? { state: null, finished: true }
  const sent = { ...ends, isReply: true, body, state, finished }
  record(job, place, { type: 'message', kind: null, body: { author, text, exchange: sent } })
}

/** The reply as its sender reads it: JSON where the message has a schema for it, else text. The answer fits. */
function replyIn(call: AgentCall, { output, text }: AgentEndBody): unknown {
  const given = callInControl(call).final?.output
  if (given !== undefined) return given.value
  if (output !== null || (call.exchange?.reply ?? null) === null) return output ?? text
  const read = readJson(text)
  return read.ok ? read.value : text
}

/** What is wrong with the answer of a call as the reply to a message; null if it fits, or answers none. */
export function replyProblem(call: AgentCall, content: EntryContent): string | null {
  const { exchange } = call
  if (exchange === null || exchange.reply === null || content.type !== 'end' || content.kind !== 'agent') return null
  const { output, text } = content.body
  const given = callInControl(call).final?.output ?? (output === null ? undefined : { value: output })
  const read = given === undefined ? readJson(text) : { ok: true as const, value: given.value }
  const issues = read.ok ? validatorOf(exchange.reply).issuesOf(read.value) : [read.problem]
  return issues.length === 0 ? null : mismatch(call, issues.slice(0, 5).join('; '))
}

/** The notices of exchanges that are still open when their job ends. */
export function unfinishedExchanges({ exchanges }: LiveJob): readonly EntryContent[] {
  const found: EntryContent[] = []
  for (const { protocol, initiator, responder, standing } of exchanges.values()) {
    if (standing === null || standing.finished) continue
    const state = standing.state ?? ''
    const facts = { protocol, initiator, responder, state }
    const detail = `\`${protocol}\` between \`${initiator}\` and \`${responder}\` is not finished: it stands in \`${state}\`.`
    found.push({ type: 'notice', kind: null, body: { code: 'PROTOCOL_UNFINISHED', detail, ...facts } })
  }
  return found
}
