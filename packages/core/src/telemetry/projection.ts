/**
 * The entries of one job as spans: a function of the log alone [C32, P16]. The job is a run or a task; the spans of a task stand in the
 * trace of its run.
 */
import type {
  AgentStartBody,
  CallPlace,
  Entry,
  ErrorBody,
  ModelEndBody,
  ModelUsage,
  ToolStartBody,
} from '@witan/protocol/entries'
import { isRequired } from '../conversation/fold-interruptions.ts'
import type { AgentLookup } from '../conversation/fold.ts'
import { spanField } from '../event/project.ts'
import { localPrincipal } from '../identity/principal.ts'
import { readTraceparent } from '../identity/traceparent.ts'
import { spanIdOf, traceIdOf } from '../identity/trace.ts'
import { longestMetadata } from './mlflow.ts'
import { add, type AttributeList, type Span, type SpanEvent, type SpanLink } from './span.ts'
import type { SpanContent } from './span-content.ts'
import { addEvent, addLink, type Draft, Drafts } from './span-draft.ts'
import { type AgentLabels, plainId, type SpanLabels } from './span-label.ts'
import { eventOf, exceptionEvent, resolvedEvent, retryOf } from './span-event.ts'

/** What a trace says beside the entries. */
interface TraceSource {
  readonly database: string
  readonly conversation: string
  readonly agents: AgentLookup
}

/** The form of the spans of one exporter. `content` is null if no text of the conversation may leave. */
interface SpanStyle {
  readonly content: SpanContent | null
  readonly labels: SpanLabels
}

/** Takes the entries of a job in order, and gives their spans. */
interface Projection {
  take(entry: Entry): void
  /** The spans so far. A call without an end ends with the last entry. */
  spans(): readonly Span[]
}

interface Call {
  readonly span: Draft
  /** Those of its agent; of a tool, those of the agent that uses it. */
  readonly labels: AgentLabels
  /** Where it stands in its document; null for a tool. */
  readonly place: CallPlace | null
  readonly toolCallId: string
}

interface Reading {
  readonly job: string
  readonly source: TraceSource
  readonly content: SpanContent | null
  readonly labels: SpanLabels
  readonly drafts: Drafts
  readonly calls: Map<string, Call>
  /** Requests made again, by call, until the reply comes. */
  readonly retries: Map<string, SpanEvent[]>
  /** When each interruption was opened. */
  readonly asked: Map<string, number>
  /** Of the messages before the start. */
  readonly links: SpanLink[]
}

/** Begins the projection of one job. */
export function createProjection(job: string, source: TraceSource, { content, labels }: SpanStyle): Projection {
  const drafts = new Drafts(source.database)
  const maps = { calls: new Map(), retries: new Map(), asked: new Map() }
  const reading: Reading = { job, source, content, labels, drafts, ...maps, links: [] }
  let endedAt = 0
  return {
    take(entry) {
      endedAt = Math.max(endedAt, entry.at)
      take(reading, entry)
    },
    spans() {
      for (const span of drafts.spans)
        if (span.endedAt < span.startedAt) span.endedAt = Math.max(span.startedAt, endedAt)
      return drafts.spans
    },
  }
}

function take(reading: Reading, entry: Entry): void {
  const { place } = entry
  reading.content?.gatherFrom(entry)
  if (entry.type === 'start') {
    if (entry.kind === 'tool') toolStarted(reading, entry)
    else if (entry.body.background === undefined || place.call === reading.job) agentStarted(reading, entry)
    return
  }
  if (entry.kind === 'model') return entry.type === 'end' ? replied(reading, entry) : undefined
  const call = reading.calls.get(place.call)
  if ((entry.type === 'end' || entry.type === 'error') && call !== undefined) return ended(reading, entry, call)
  happened(reading, entry)
}

function agentStarted(reading: Reading, entry: Entry & { body: AgentStartBody }): void {
  const { place, body, at } = entry
  const { content, calls, source } = reading
  if (body.exchange !== undefined) content?.toPeer(place.parentCall, body.toolCallId ?? '')
  const labels = reading.labels.starting(entry, source.database, source.agents)
  const parent = calls.get(place.parentCall ?? '')?.span
  const span = reading.drafts.call(place, { label: labels.agent, at, parent })
  const { attributes } = span
  add(attributes, 'witan.handed_from', body.handedFrom)
  if (body.background !== undefined) add(attributes, 'witan.task.id', place.call)
  add(attributes, 'witan.workflow.step', body.step?.index)
  add(attributes, 'witan.workflow.round', body.step?.round)
  if (content !== null) attributes.push(...content.started(entry, labels.data))
  calls.set(place.call, { span, labels, place, toolCallId: body.toolCallId ?? '' })
  if (place.parentCall === null) rootStarted(reading, span, entry)
  for (const link of reading.links.splice(0)) addLink(span, link)
}

/** What stands on the root span alone. */
function rootStarted(reading: Reading, span: Draft, { place, body }: Entry & { body: AgentStartBody }): void {
  const { database, conversation } = reading.source
  const { attributes } = span
  add(attributes, 'session.id', reading.labels.isForMlflow ? conversation.slice(0, longestMetadata) : conversation)
  add(attributes, 'gen_ai.conversation.id', conversation)
  const user = body.principal?.id ?? localPrincipal.id
  add(attributes, 'user.id', reading.labels.isForMlflow ? user.slice(0, longestMetadata).toWellFormed() : user)
  add(attributes, 'witan.database', database)
  add(attributes, 'witan.run.id', place.run)
  const { originRunId } = body
  if (originRunId === null) return
  add(attributes, 'witan.origin_run.id', originRunId)
  const origin = { traceId: traceIdOf(database, originRunId), spanId: spanIdOf(database, originRunId) }
  addLink(span, { ...origin, isRemote: false, attributes: ['witan.link', 'follow_up'] })
}

function toolStarted(reading: Reading, entry: Entry & { body: ToolStartBody }): void {
  const { place, body, at } = entry
  const { content, calls } = reading
  if (body.exchange !== undefined) content?.toPeer(place.parentCall, body.toolCallId)
  const caller = calls.get(place.parentCall ?? '')
  const labels = labelsAt(reading, place, caller)
  const span = reading.drafts.call(place, { label: labels.tool(body.name), at, parent: caller?.span })
  const { attributes } = span
  add(attributes, 'gen_ai.tool.call.id', plainId(body.toolCallId))
  if (body.bound.length > 0) add(attributes, 'witan.tool.bound', body.bound)
  if (content !== null)
    add(attributes, 'gen_ai.tool.call.arguments', content.writer.value(spanField(entry, 'arguments')))
  calls.set(place.call, { span, labels, place: null, toolCallId: body.toolCallId })
}

/** The labels of an entry of a call, or of a tool that it uses. */
function labelsAt(reading: Reading, place: CallPlace, call: Call | undefined): AgentLabels {
  return call?.labels.fits(place) ? call.labels : reading.labels.at(place)
}

function replied(reading: Reading, entry: Entry & { body: ModelEndBody }): void {
  const { place, body, at, seq } = entry
  const { content } = reading
  const call = reading.calls.get(place.call)
  const label = labelsAt(reading, place, call).chat(body.model, body.finishReason)
  const startedAt = Math.min(body.startedAt, at)
  const span = reading.drafts.reply(place, { label, at: startedAt, caller: call?.span, seq })
  span.endedAt = at
  const { attributes } = span
  if (body.usage !== null) addUsage(attributes, body.usage)
  add(attributes, 'witan.reply.purpose', body.purpose)
  if (!body.accepted) add(attributes, 'witan.reply.accepted', false)
  if (content !== null) attributes.push(...content.replied(entry))
  takeRetries(reading, place, span)
}

/** The requests that were made again stand on what came of them. */
function takeRetries({ retries }: Reading, { call }: CallPlace, span: Draft): void {
  for (const event of retries.get(call) ?? []) addEvent(span, event)
  retries.delete(call)
}

/** Unknown usage is absent, never 0 [E83]. */
function addUsage(attributes: AttributeList, usage: ModelUsage): void {
  add(attributes, 'gen_ai.usage.input_tokens', usage.inputTokens ?? undefined)
  add(attributes, 'gen_ai.usage.output_tokens', usage.outputTokens ?? undefined)
  add(attributes, 'gen_ai.usage.cache_read.input_tokens', usage.cachedInputTokens || undefined)
  add(attributes, 'gen_ai.usage.cache_creation.input_tokens', usage.cacheWriteTokens)
  add(attributes, 'gen_ai.usage.reasoning.output_tokens', usage.reasoningTokens || undefined)
  add(attributes, 'witan.usage.cost_usd', usage.costUsd)
}

function ended(reading: Reading, entry: Entry & { type: 'end' | 'error' }, call: Call): void {
  const { place, at } = entry
  const { content } = reading
  const { span, toolCallId } = call
  span.endedAt = at
  // Of a failed model call no reply came: its tries stand on the agent.
  takeRetries(reading, place, span)
  if (entry.type === 'error') failed(reading, call, entry)
  else if (entry.kind === 'agent') {
    add(span.attributes, 'witan.finish_reason', entry.body.finishReason)
    if (content !== null) span.attributes.push(...content.ended(entry))
  } else if (content !== null && entry.kind === 'tool')
    add(span.attributes, 'gen_ai.tool.call.result', content.writer.value(spanField(entry, 'result')))
  if (content === null || entry.kind === 'model') return
  const caller = reading.calls.get(place.parentCall ?? '')?.place ?? null
  content.over(entry, toolCallId === '' || caller === null ? null : { caller, id: toolCallId })
}

function failed(
  { content }: Reading,
  { span, labels }: Call,
  entry: Entry & { readonly type: 'error'; readonly body: ErrorBody },
): void {
  const code = /^[A-Z0-9_]{1,64}$/.test(entry.body.code) ? entry.body.code : '_OTHER'
  const message = content === null ? undefined : content.writer.text(spanField(entry, 'detail') ?? '')
  add(span.attributes, 'error.type', code)
  span.failure = message === undefined ? {} : { message }
  addEvent(span, exceptionEvent(entry.at, code, message))
  if (code !== 'TOOL_UNKNOWN' || content !== null) return
  // A tool that does not exist has the name that the model made up.
  const { name, shared } = labels.tool('')
  Object.assign(span, { name, shared })
}

type Added = Entry & { readonly type: 'memory' | 'retrieval' | 'critique' | 'hook' | 'notice' }

/** Whether an entry may change what a model reads next. */
function isAdded(entry: Entry): entry is Added {
  return added.has(entry.type)
}

const added: ReadonlySet<Entry['type']> = new Set<Added['type']>(['memory', 'retrieval', 'critique', 'hook', 'notice'])

/** An event of a call: of its span, or of its caller's while the call has not started. */
function happened(reading: Reading, entry: Entry): void {
  const { place } = entry
  const { content } = reading
  if (isRequired(entry)) reading.asked.set(entry.body.id, entry.at)
  if (entry.type === 'message') addMessage(reading, entry)
  if (isAdded(entry)) content?.addMessage(entry)
  const retry = retryOf(entry, content)
  if (retry !== null) {
    const retries = reading.retries.get(place.call) ?? []
    reading.retries.set(place.call, [...retries, retry])
    return
  }
  const span = (reading.calls.get(place.call) ?? reading.calls.get(place.parentCall ?? ''))?.span
  if (span === undefined) return
  const event =
    entry.type === 'resolved'
      ? resolvedEvent(entry, { askedAt: reading.asked.get(entry.body.id), content })
      : eventOf(entry, content)
  if (event !== null) addEvent(span, event)
}

function addMessage(reading: Reading, entry: Entry & { type: 'message' }): void {
  const { place, body } = entry
  reading.content?.addMessage(entry)
  const from = body.traceparent === undefined ? null : readTraceparent(body.traceparent)
  if (from === null) return
  const link: SpanLink = { ...from, isRemote: true, attributes: ['witan.link', 'request'] }
  const call = reading.calls.get(place.call)
  if (call === undefined) reading.links.push(link)
  else addLink(call.span, link)
}
