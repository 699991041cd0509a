/**
 * Figures of this process in the text format of Prometheus, apart for each database: counted from the entries that this process stores, and
 * from its requests to embedding models, some of which are in no log.
 * Labels hold names of models and words of ours, never what a conversation, a person or a provider says.
 */
import type { Entry } from '@witan/protocol/entries'
import { placeOf } from '../identity/channel.ts'
import { head, Histogram, histogramLines, sample } from './prometheus.ts'

/** Values of a moment, read when the figures are asked for. */
interface Gauges {
  readonly openInterruptions: number
  readonly eventReaders: number
  readonly queued: number
  readonly dropped: number
}

/** A request to an embedding model. `tokens` is null where its reply did not say. */
export interface PlacedRequest {
  readonly model: string
  readonly tokens: number | null
  readonly seconds: number
}

/** The figures of a process. */
export interface Metrics {
  /** Takes entries that this process has stored. */
  stored(channel: string, entries: readonly Entry[]): void
  /** Takes a request to an embedding model that gave a reply. */
  placed(database: string, request: PlacedRequest): void
  /** The figures of one database. */
  text(database: string, gauges: Gauges): string
}

/** The most models with their own series in a database, for each thing that is asked of models. All others share one, so that nobody can create more series. */
const mostModels = 100
const otherModels = 'other'
/** The most databases with figures. Beyond it the least recently used one is forgotten, and starts again at 0. */
const mostDatabases = 1_000
const longestLabel = 200

/** The bucket boundaries that OpenTelemetry recommends for both. */
const tokenBounds = Array.from({ length: 14 }, (_, index) => 4 ** index)
const secondBounds = Array.from({ length: 14 }, (_, index) => Math.round(2 ** index) / 100)

/** What is asked of a model, in the words of OpenTelemetry. */
type Operation = 'chat' | 'embeddings'

interface ModelFigures {
  readonly input: Histogram
  readonly output: Histogram
  readonly seconds: Histogram
}

const ends = ['completed', 'failed', 'cancelled'] as const

interface DatabaseFigures {
  readonly models: Readonly<Record<Operation, Map<string, ModelFigures>>>
  readonly runs: Record<(typeof ends)[number], number>
}

/** Creates figures that are all 0. */
export function createMetrics(): Metrics {
  const databases = new Map<string, DatabaseFigures>()
  return {
    stored(channel, entries) {
      for (const entry of entries) {
        if (entry.type !== 'end' && entry.type !== 'error') continue
        if (entry.kind === 'tool') continue
        take(figuresOf(databases, placeOf(channel).database), entry)
      }
    },
    placed(database, { model, tokens, seconds }) {
      const figures = modelFigures(figuresOf(databases, database).models.embeddings, model.slice(0, longestLabel))
      figures.seconds.observe(Math.max(0, seconds))
      if (tokens !== null) figures.input.observe(tokens)
    },
    text: (database, gauges) => textOf(databases.get(database) ?? noFigures(), gauges),
  }
}

function noFigures(): DatabaseFigures {
  return { models: { chat: new Map(), embeddings: new Map() }, runs: { completed: 0, failed: 0, cancelled: 0 } }
}

function figuresOf(databases: Map<string, DatabaseFigures>, database: string): DatabaseFigures {
  const figures = databases.get(database) ?? noFigures()
  databases.delete(database)
  databases.set(database, figures)
  const [oldest] = databases.keys()
  if (databases.size > mostDatabases && oldest !== undefined) databases.delete(oldest)
  return figures
}

function take({ models, runs }: DatabaseFigures, entry: Entry & { readonly type: 'end' | 'error' }): void {
  if (entry.type === 'end' && entry.kind === 'model') {
    const { asked, model, usage, startedAt } = entry.body
    const figures = modelFigures(models.chat, (asked ?? model).slice(0, longestLabel))
    figures.seconds.observe(Math.max(0, entry.at - startedAt) / 1000)
    if (usage?.inputTokens != null) figures.input.observe(usage.inputTokens)
    if (usage?.outputTokens != null) figures.output.observe(usage.outputTokens)
    return
  }
  if (entry.kind !== 'agent' || entry.place.call !== entry.place.run) return
  if (entry.type === 'error') runs[entry.body.code === 'RUN_CANCELLED' ? 'cancelled' : 'failed'] += 1
  else runs[entry.body.finishReason === 'cancelled' ? 'cancelled' : 'completed'] += 1
}

function modelFigures(models: Map<string, ModelFigures>, model: string): ModelFigures {
  const name = models.has(model) || models.size < mostModels - 1 ? model : otherModels
  const known = models.get(name)
  if (known !== undefined) return known
  const fresh = {
    input: new Histogram(tokenBounds),
    output: new Histogram(tokenBounds),
    seconds: new Histogram(secondBounds),
  }
  models.set(name, fresh)
  return fresh
}

function textOf({ models, runs }: DatabaseFigures, gauges: Gauges): string {
  const all = (['chat', 'embeddings'] as const).flatMap((operation) =>
    Array.from(models[operation], ([model, figures]) => ({
      labels: { gen_ai_operation_name: operation, gen_ai_request_model: model },
      ...figures,
    })),
  )
  const tokens = all.flatMap(({ labels, input, output }) => [
    ...histogramLines(names.tokens, { ...labels, gen_ai_token_type: 'input' }, input),
    // An embedding has no tokens.
    ...(labels.gen_ai_operation_name === 'chat'
      ? histogramLines(names.tokens, { ...labels, gen_ai_token_type: 'output' }, output)
      : []),
  ])
  const { openInterruptions, eventReaders, queued, dropped } = gauges
  const lines = [
    ...head(names.tokens, 'histogram', 'Tokens of a model call: what went in, and what came out.'),
    ...tokens,
    ...head(names.seconds, 'histogram', 'How long a model call took that gave a reply.'),
    ...all.flatMap(({ labels, seconds }) => histogramLines(names.seconds, labels, seconds)),
    ...head(names.runs, 'counter', 'Runs that this process has ended.'),
    ...ends.map((status) => sample(names.runs, { status }, runs[status])),
    ...head(names.open, 'gauge', 'Open interruptions of the database, counted up to 10,000.'),
    sample(names.open, {}, openInterruptions),
    ...head(names.queued, 'gauge', 'Spans of all databases that wait in this process to be exported.'),
    sample(names.queued, {}, queued),
    ...head(names.dropped, 'counter', 'Spans of all databases that this process has dropped.'),
    sample(names.dropped, {}, dropped),
    ...head(names.readers, 'gauge', 'Readers of the events of the database in this process.'),
    sample(names.readers, {}, eventReaders),
  ]
  return `${lines.join('\n')}\n`
}

const names = {
  tokens: 'gen_ai_client_token_usage',
  seconds: 'gen_ai_client_operation_duration_seconds',
  runs: 'witan_runs_total',
  open: 'witan_open_interruptions',
  queued: 'witan_telemetry_queued',
  dropped: 'witan_telemetry_dropped_total',
  readers: 'witan_event_readers',
} as const
