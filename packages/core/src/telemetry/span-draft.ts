/** The spans of one trace while their log is read. */
import type { CallPlace } from '@witan/protocol/entries'
import { traceIdOf } from '../identity/trace.ts'
import { spanIdOf } from './ids.ts'
import type { AttributeValue, Span, SpanEvent, SpanLink } from './span.ts'

/** A span that may still change. */
export type Draft = { -readonly [Key in keyof Span]: Span[Key] } & {
  readonly attributes: Record<string, AttributeValue | undefined>
  readonly events: SpanEvent[]
  readonly links: SpanLink[]
}

/** What a span is called, and when it begins. `id` is that of its call, or the seq of a reply. */
export interface DraftOf {
  readonly name: string
  readonly id: string | number
  /** How MLflow names its kind. */
  readonly type: 'AGENT' | 'CHAT_MODEL' | 'TOOL' | 'CHAIN'
  readonly at: number
}

/** Begins the spans of one trace, in the order of the log. */
export class Drafts {
  readonly spans: Draft[] = []
  readonly #database: string
  readonly #isForMlflow: boolean
  readonly #ids = new Map<string, string>()
  #traceId = ''

  constructor(database: string, isForMlflow: boolean) {
    this.#database = database
    this.#isForMlflow = isForMlflow
  }

  begin(place: CallPlace, { name, id, type, at }: DraftOf): Draft {
    if (this.#traceId === '') this.#traceId = traceIdOf(this.#database, place.run)
    const span: Draft = {
      traceId: this.#traceId,
      spanId: typeof id === 'number' ? spanIdOf(this.#database, id) : this.idOf(id),
      parentSpanId: place.parentCall === null ? null : this.idOf(place.parentCall),
      name,
      kind: 'internal',
      startedAt: at,
      endedAt: Number.NEGATIVE_INFINITY,
      attributes: {
        'witan.call.id': place.call,
        'witan.agent.path': place.agentPath,
        'witan.branch': place.branches?.join('/') ?? '',
        'mlflow.spanType': this.#isForMlflow ? type : undefined,
      },
      events: [],
      links: [],
      failure: null,
    }
    this.spans.push(span)
    return span
  }

  idOf(call: string): string {
    const known = this.#ids.get(call)
    if (known !== undefined) return known
    const made = spanIdOf(this.#database, call)
    this.#ids.set(call, made)
    return made
  }
}

/** What an id of a provider or the name of a model may look like; anything else may be words of a model. */
const idPattern = /^[\w.:/@+~-]{1,200}$/

/** The id, unless it may be more than an id. */
export function plainId(id: string): string | undefined {
  return idPattern.test(id) ? id : undefined
}
