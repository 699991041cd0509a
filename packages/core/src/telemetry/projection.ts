/**
 * The entries of one job as spans: a function of the log alone [C32, P16]. The job is a run or a task; the spans of a task stand in the
 * trace of its run.
 */
import { toolNamePattern } from '@witan/protocol'
import type { AgentStartBody, CallPlace, Entry, ErrorBody, ModelEndBody, ToolStartBody } from '@witan/protocol/entries'
import { isRequired } from '../conversation/asking.ts'
import type { AgentLookup } from '../conversation/fold.ts'
import { localPrincipal } from '../identity/principal.ts'
import { readTraceparent } from '../identity/traceparent.ts'
import { traceIdOf } from '../identity/trace.ts'
import { longestMetadata } from './mlflow.ts'
import { spanIdOf } from './ids.ts'
import type { Span, SpanEvent, SpanLink } from './span.ts'
import { type SpanContent, shownIn } from './span-content.ts'
import { type Draft, Drafts, plainId } from './span-draft.ts'
import { eventOf, exceptionEvent, resolvedEvent, retryOf } from './span-event.ts'

/** What a trace says beside the entries. */
export interface TraceSource {
  readonly database: string
  readonly conversation: string
  readonly agents: AgentLookup
}

/** The form of the spans of one exporter. `content` is null if no text of the conversation may leave. */
export interface SpanStyle {
  readonly content: SpanContent | null
  readonly isForMlflow: boolean
}

/** Takes the entries of a job in order, and gives their spans. */
export interface Projection {
  take(entry: Entry): void
  /** The spans so far. A call without an end ends with the last entry. */
  spans(): readonly Span[]
}

interface Call {
  readonly span: Draft
  /** Where it stands in its document, and what it asks; set for an agent's call. */
  readonly agent: { readonly place: CallPlace; readonly provider: string; readonly model: string } | null
  readonly toolCallId: string
}

interface Reading {
  readonly job: string
  readonly source: TraceSource
  readonly content: SpanContent | null
  readonly isForMlflow: boolean
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
export function createProjection(job: string, source: TraceSource, { content, isForMlflow }: SpanStyle): Projection {
  const drafts = new Drafts(source.database, isForMlflow)
  const maps = { calls: new Map(), retries: new Map(), asked: new Map() }
  const reading: Reading = { job, source, content, isForMlflow, drafts, ...maps, links: [] }
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
  reading.content?.overhear(entry)
  if (entry.type === 'start') {
    if (entry.kind === 'tool') toolStarted(reading, entry)
    else if (entry.body.background === undefined || place.call === reading.job) agentStarted(reading, entry)
    return
  }
  if (entry.type === 'end' && entry.kind === 'model') return replied(reading, entry)
  const call = reading.calls.get(place.call)
  if ((entry.type === 'end' || entry.type === 'error') && call !== undefined) return ended(reading, entry, call)
  happened(reading, entry)
}

function agentStarted(reading: Reading, entry: Entry & { body: AgentStartBody }): void {
  const { place, body } = entry
  const { content } = reading
  if (body.exchange !== undefined) content?.toPeer(place.parentCall, body.toolCallId ?? '')
  const agent = reading.source.agents(body.agent, body.revision)
  const isWorkflow = agent.workflow !== null
  const named = providerOf(body.overrides?.model ?? agent.model)
  const operation = isWorkflow ? 'invoke_workflow' : 'invoke_agent'
  const about = { name: `${operation} ${body.agent}`, id: place.call, at: entry.at } as const
  const span = reading.drafts.begin(place, { ...about, type: isWorkflow ? 'CHAIN' : 'AGENT' })
  Object.assign(span.attributes, {
    'gen_ai.operation.name': operation,
    'gen_ai.agent.id': body.agent,
    'gen_ai.agent.name': body.agent,
    'gen_ai.agent.version': String(body.revision),
    ...(isWorkflow
      ? { 'gen_ai.workflow.name': body.agent }
      : { 'gen_ai.provider.name': named.provider, 'gen_ai.request.model': named.model }),
    'witan.handed_from': body.handedFrom,
    'witan.task.id': body.background === undefined ? undefined : place.call,
    'witan.workflow.step': body.step?.index,
    'witan.workflow.round': body.step?.round,
  })
  if (content !== null) Object.assign(span.attributes, content.started(place, shownStart(entry), agent))
  reading.calls.set(place.call, { span, agent: { place, ...named }, toolCallId: body.toolCallId ?? '' })
  if (place.parentCall === null) rootStarted(reading, span, entry)
  span.links.push(...reading.links.splice(0))
}

/** What stands on the root span alone. */
function rootStarted(
  reading: Reading,
  { attributes, links }: Draft,
  { place, body }: Entry & { body: AgentStartBody },
): void {
  const { database, conversation } = reading.source
  attributes['session.id'] = reading.isForMlflow ? conversation.slice(0, longestMetadata) : conversation
  attributes['gen_ai.conversation.id'] = conversation
  const user = body.principal?.id ?? localPrincipal.id
  attributes['user.id'] = reading.isForMlflow ? user.slice(0, longestMetadata).toWellFormed() : user
  attributes['witan.database'] = database
  attributes['witan.run.id'] = place.run
  const { originRunId } = body
  if (originRunId === null) return
  attributes['witan.origin_run.id'] = originRunId
  const origin = { traceId: traceIdOf(database, originRunId), spanId: spanIdOf(database, originRunId) }
  links.push({ ...origin, isRemote: false, attributes: { 'witan.link': 'follow_up' } })
}

function toolStarted(reading: Reading, entry: Entry & { body: ToolStartBody }): void {
  const { place, body } = entry
  const { content } = reading
  if (body.exchange !== undefined) content?.toPeer(place.parentCall, body.toolCallId)
  const name = toolNamePattern.test(body.name) ? body.name : 'unknown'
  const about = { name: `execute_tool ${name}`, id: place.call, at: entry.at } as const
  const span = reading.drafts.begin(place, { ...about, type: 'TOOL' })
  Object.assign(span.attributes, {
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': name,
    'gen_ai.tool.type': 'function',
    'gen_ai.tool.call.id': plainId(body.toolCallId),
    'gen_ai.agent.id': place.author,
    'witan.tool.bound': body.bound.length === 0 ? undefined : body.bound,
    'gen_ai.tool.call.arguments': content === null ? undefined : content.writer.value(shownStart(entry).arguments),
  })
  reading.calls.set(place.call, { span, agent: null, toolCallId: body.toolCallId })
}

function replied(reading: Reading, entry: Entry & { body: ModelEndBody }): void {
  const { place, body, at } = entry
  const call = reading.calls.get(place.call)
  const { content } = reading
  const model = plainId(body.model) ?? 'unknown'
  const span = reading.drafts.begin(place, {
    name: `chat ${model}`,
    id: entry.seq,
    type: 'CHAT_MODEL',
    at: Math.min(body.startedAt, at),
  })
  span.parentSpanId = reading.drafts.idOf(place.call)
  span.kind = 'client'
  span.endedAt = at
  const { usage } = body
  Object.assign(span.attributes, {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': call?.agent?.provider,
    'gen_ai.request.model': call?.agent?.model,
    'gen_ai.response.model': model,
    'gen_ai.response.finish_reasons': [body.finishReason],
    'gen_ai.agent.id': place.author,
    // Unknown usage is absent, never 0 [E83].
    'gen_ai.usage.input_tokens': usage?.inputTokens ?? undefined,
    'gen_ai.usage.output_tokens': usage?.outputTokens ?? undefined,
    'gen_ai.usage.cache_read.input_tokens': usage?.cachedInputTokens || undefined,
    'gen_ai.usage.cache_creation.input_tokens': usage?.cacheWriteTokens,
    'gen_ai.usage.reasoning.output_tokens': usage?.reasoningTokens || undefined,
    'witan.usage.cost_usd': usage?.costUsd,
    'witan.reply.purpose': body.purpose,
    'witan.reply.accepted': body.accepted ? undefined : false,
  })
  if (content !== null) Object.assign(span.attributes, content.replied(entry, { ...body, ...shownIn(entry) }))
  span.events.push(...(reading.retries.get(place.call) ?? []))
  reading.retries.delete(place.call)
}

function ended(reading: Reading, entry: Entry & { type: 'end' | 'error' }, { span, toolCallId }: Call): void {
  const { place, at } = entry
  const { content } = reading
  span.endedAt = at
  // Of a failed model call no reply came: its tries stand on the agent.
  span.events.push(...(reading.retries.get(place.call) ?? []))
  reading.retries.delete(place.call)
  if (entry.type === 'error') failed(reading, span, entry)
  else if (entry.kind === 'agent') {
    span.attributes['witan.finish_reason'] = entry.body.finishReason
    if (content !== null) Object.assign(span.attributes, content.ended({ ...entry.body, ...shownIn(entry) }))
  } else if (content !== null && entry.kind === 'tool')
    span.attributes['gen_ai.tool.call.result'] = content.writer.value(shownIn(entry).result)
  if (content === null || entry.kind === 'model') return
  const caller = reading.calls.get(place.parentCall ?? '')?.agent?.place ?? null
  content.over(entry, toolCallId === '' || caller === null ? null : { caller, id: toolCallId })
}

function failed(
  reading: Reading,
  span: Draft,
  entry: Entry & { readonly type: 'error'; readonly body: ErrorBody },
): void {
  const { content } = reading
  const code = /^[A-Z0-9_]{1,64}$/.test(entry.body.code) ? entry.body.code : '_OTHER'
  const message = content === null ? undefined : content.writer.text(shownIn(entry).detail)
  span.attributes['error.type'] = code
  span.failure = message === undefined ? {} : { message }
  span.events.push(exceptionEvent(entry.at, code, message))
  if (code !== 'TOOL_UNKNOWN' || content !== null) return
  // A tool that does not exist has the name that the model made up.
  span.name = 'execute_tool unknown'
  span.attributes['gen_ai.tool.name'] = 'unknown'
}

/** An event of a call: of its span, or of its caller's while the call has not started. */
function happened(reading: Reading, entry: Entry): void {
  const { place } = entry
  const { content } = reading
  if (isRequired(entry)) reading.asked.set(entry.body.id, entry.at)
  if (entry.type === 'message') heard(reading, entry)
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
  if (event !== null) span.events.push(event)
}

function heard(reading: Reading, { place, body }: Entry & { type: 'message' }): void {
  reading.content?.heard(place, body)
  const from = body.traceparent === undefined ? null : readTraceparent(body.traceparent)
  if (from === null) return
  const links = reading.calls.get(place.call)?.span.links ?? reading.links
  links.push({ ...from, isRemote: true, attributes: { 'witan.link': 'request' } })
}

/** The provider and the model of a name such as `local/qwen3`. */
function providerOf(name: string): { readonly provider: string; readonly model: string } {
  const slash = name.indexOf('/')
  return slash < 1
    ? { provider: 'witan', model: name }
    : { provider: name.slice(0, slash), model: name.slice(slash + 1) }
}

function shownStart<Body>(entry: Entry & { readonly body: Body }): Body {
  return { ...entry.body, ...shownIn(entry as Entry) } as Body
}
