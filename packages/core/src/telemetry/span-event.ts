/** What happens within a span: retries, notices, messages, questions and answers, hand-overs [Tb14, Tb15]. */
import type { Entry } from '@witan/protocol/entries'
import { isRequired } from '../conversation/fold-interruptions.ts'
import { shownIn, type SpanContent } from './span-content.ts'
import { attributesOf, type SpanEvent } from './span.ts'

type Values = Parameters<typeof attributesOf>[0]

function eventAt(at: number, name: string, values: Values): SpanEvent {
  return { name, at, attributes: attributesOf(values) }
}

/** The event of an entry, or null if it is none. Without `content` no text stands in it. */
export function eventOf(entry: Entry, content: SpanContent | null): SpanEvent | null {
  if (isRequired(entry)) return askedEvent(entry, content)
  const { at } = entry
  switch (entry.type) {
    case 'notice':
      return eventAt(at, 'notice', { 'witan.notice.code': entry.body.code, ...detailOf(entry, content) })
    case 'message':
      return messageEvent(entry, content)
    case 'transfer': {
      const { from, to, returned } = entry.body
      const attributes = { 'witan.transfer.from': from, 'witan.transfer.to': to, 'witan.transfer.returned': returned }
      return eventAt(at, 'transfer', attributes)
    }
    case 'artifact':
      return artifactEvent(entry, content)
    case 'task':
      return eventAt(at, 'task', { 'witan.task.status': entry.body.status })
    case 'cancel':
      return eventAt(at, 'cancel', { 'witan.cancel.by': entry.body.by })
    case 'summary':
      return eventAt(at, 'summary', { 'witan.summary.up_to_seq': entry.body.upToSeq })
    default:
      return null
  }
}

function detailOf(entry: Entry & { type: 'notice' }, content: SpanContent | null): Values {
  return content === null ? {} : { 'witan.notice.detail': content.writer.text(shownIn(entry).detail) }
}

function messageEvent(entry: Entry & { type: 'message' }, content: SpanContent | null): SpanEvent {
  const { author, exchange, text } = entry.body
  const peer =
    exchange === undefined
      ? {}
      : {
          'witan.exchange.id': exchange.id,
          'witan.exchange.protocol': exchange.protocol,
          'witan.exchange.message': exchange.name,
          'witan.exchange.is_reply': exchange.isReply,
          'witan.message.to': author === exchange.initiator ? exchange.responder : exchange.initiator,
        }
  const said = content === null ? {} : { 'witan.message.text': content.writer.text(text) }
  return eventAt(entry.at, 'message', { 'witan.message.author': author, ...peer, ...said })
}

/** An artifact by its id and digest. Its name and media type are content: an agent or a tool wrote them. */
function artifactEvent(entry: Entry & { type: 'artifact' }, content: SpanContent | null): SpanEvent {
  const { id, digest, bytes } = entry.body
  const shown = shownIn(entry)
  const said =
    content === null
      ? {}
      : {
          'witan.artifact.name': content.writer.text(shown.name),
          'witan.artifact.media_type': content.writer.text(shown.mediaType),
        }
  const attributes = {
    'witan.artifact.id': id,
    'witan.artifact.digest': digest,
    'witan.artifact.bytes': bytes,
    ...said,
  }
  return eventAt(entry.at, 'artifact', attributes)
}

/** The event of a model request that is made again, or made to another model; null for any other entry. */
export function retryOf(entry: Entry, content: SpanContent | null): SpanEvent | null {
  if (entry.type !== 'notice') return null
  const { body } = entry
  if (body.code === 'MODEL_FALLBACK') return eventAt(entry.at, 'fallback', detailOf(entry, content))
  if (body.code !== 'MODEL_RETRIED') return null
  const facts = {
    'witan.retry.attempt': body.attempt,
    'witan.retry.tries': body.tries,
    'witan.retry.delay_ms': body.delayMs,
  }
  return eventAt(entry.at, 'retry', { ...facts, ...detailOf(entry, content) })
}

/** What a person or a client is asked. */
function askedEvent(entry: Entry & { type: `${string}_required` }, content: SpanContent | null): SpanEvent {
  const { id, kind, addressee } = entry.body
  const shown = shownIn(entry) as { questions?: unknown; prompt?: unknown; arguments?: unknown }
  const prompt =
    content === null ? undefined : content.writer.value(shown.questions ?? shown.prompt ?? shown.arguments ?? null)
  const attributes = {
    'witan.interruption.id': id,
    'witan.interruption.kind': kind,
    'witan.interruption.addressee': addressee ?? undefined,
    'witan.interruption.prompt': prompt,
  }
  return eventAt(entry.at, 'interruption', attributes)
}

/** How long a call waited for a person, and the result. */
export function resolvedEvent(
  entry: Entry & { type: 'resolved' },
  { askedAt, content }: { readonly askedAt: number | undefined; readonly content: SpanContent | null },
): SpanEvent {
  const { id, state, by } = entry.body
  const { answer } = shownIn(entry) as { answer?: unknown }
  const attributes = {
    'witan.interruption.id': id,
    'witan.interruption.state': state,
    'witan.interruption.by': by ?? undefined,
    'witan.interruption.waited_ms': askedAt === undefined ? undefined : entry.at - askedAt,
    'witan.interruption.answer': content === null || answer === undefined ? undefined : content.writer.value(answer),
  }
  return eventAt(entry.at, 'resolved', attributes)
}

/** Why a call failed. The text is content. */
export function exceptionEvent(at: number, code: string, message: string | undefined): SpanEvent {
  return eventAt(at, 'exception', { 'exception.type': code, 'exception.message': message })
}
