/** Telemetry: exports the spans of every job that ends in this process. Nothing that happens here changes a run [E80]. */
import type { CallPlace, Entry } from '@witan/protocol/entries'
import type { AgentLookup } from '../conversation/fold.ts'
import type { Clock } from '../identity/clock.ts'
import type { ConversationValues } from '../parameter/parameter.ts'
import { Collector, type EndedJob, type SeenEntries } from './collector.ts'
import { type ReadLog, Summaries } from './conversation-summary.ts'
import type { Delivery } from './delivery.ts'
import { spanIdOf, traceIdOf } from '../identity/trace.ts'
import { chatty, conventional, type MessageForm } from './message-form.ts'
import { mostInParcel } from './parcel-queue.ts'
import { createProjection } from './projection.ts'
import { traceValuesOf, TraceScrubbers } from './trace-values.ts'
import type { Span } from './span.ts'
import type { SpanLabels } from './span-label.ts'
import type { EncodedSpans, SpanEncoder } from './span-encoder.ts'
import { SpanContent } from './span-content.ts'
import { type FileSource, filesOf, type TraceFile } from './trace-file.ts'
import { traceparentOf } from '../identity/traceparent.ts'

/** One exporter of spans. */
export interface Exporter {
  /** Whether it exports texts of the conversation. */
  readonly content: 'none' | 'full'
  /** Of its spans; they say whether it is MLflow. */
  readonly labels: SpanLabels
  readonly delivery: Delivery
  readonly encoder: SpanEncoder
  /** Whether it takes the artifacts of a job, and the figures of its conversation. */
  readonly takesFiles: boolean
  readonly takesSummaries: boolean
  /** Which parcels may share a request; `files` is the number of files that go with them. */
  groupOf(job: Pick<EndedJob, 'database' | 'conversation'>, files: number): string
}

/** What telemetry needs from the runtime. */
interface TelemetryContext {
  readonly clock: Clock
  readonly exporters: readonly Exporter[]
  /** The values of a conversation: one that was hidden later is hidden in every later export. Null if the conversation is gone. */
  values(database: string, id: string): ConversationValues | null | Promise<ConversationValues | null>
  /** All entries of a job and the starts of its trace, from the store. Null if they are gone. */
  read(job: EndedJob): Promise<SeenEntries | null>
  readonly readLog: ReadLog
  /** The content of a file of a conversation; null if it is gone. */
  readonly content: FileSource['content']
  /** The pinned definitions that these entries name. */
  agents(database: string, starts: readonly Entry[]): AgentLookup | Promise<AgentLookup>
  report(error: unknown): void
}

/** The telemetry of a runtime. */
export interface Telemetry {
  /** Takes entries that this process has stored. */
  stored(channel: string, entries: readonly Entry[]): void
  /** The header that names the span of a call. */
  traceparent(database: string, place: Pick<CallPlace, 'run' | 'call'>): string
  /** The spans that wait, and those dropped so far. */
  counts(): { readonly queued: number; readonly dropped: number }
  /** Resolves true once nothing waits, false if that takes longer. What fails is tried again as usual. */
  flush(withinMs: number): Promise<boolean>
  /** Sends what waits, within this many ms. */
  close(withinMs: number): Promise<void>
}

/** How long spans are made before other work gets its turn, in ms. */
const turnMs = 8
/** The most ended jobs that wait for their spans to be made. */
const mostWaiting = 2_000
/** Spans wait until this many jobs have ended, or for this time in ms, and are made together. Until then runs have the processor's caches for themselves. */
const together = { jobs: 64, ms: 20 }

/** Creates telemetry; it works until it is closed. */
export function createTelemetry(context: TelemetryContext): Telemetry {
  const { exporters } = context
  const waiting: EndedJob[] = []
  const bench = { scrubbers: new TraceScrubbers(), summaries: new Summaries(context.readLog) }
  let working: Promise<void> | null = null
  let begin = () => {}
  const collecting = () =>
    new Promise<void>((resolve) => {
      const cancel = context.clock.after(together.ms, resolve, { background: true })
      begin = () => {
        cancel()
        setImmediate(resolve)
      }
    })
  const work = async () => {
    await collecting()
    begin = () => {}
    const turn = createTurn(context.clock)
    try {
      for (let job = waiting.shift(); job !== undefined; job = waiting.shift())
        await exportJob(job, context, { ...bench, turn }).catch((error: unknown) => context.report(error))
    } finally {
      working = null
    }
  }
  const collector = new Collector((job) => {
    if (waiting.length >= mostWaiting) return dropAll(exporters, job.seen)
    waiting.push(job)
    working ??= work()
    if (waiting.length === together.jobs) begin()
  })
  return {
    stored: (channel, entries) => collector.take(channel, entries),
    traceparent: (database, { run, call }) =>
      traceparentOf({ traceId: traceIdOf(database, run), spanId: spanIdOf(database, call) }),
    counts() {
      const all = exporters.map(({ delivery }) => delivery.counts())
      const sum = (key: 'queued' | 'dropped') => all.reduce((total, one) => total + one[key], 0)
      return { queued: sum('queued'), dropped: sum('dropped') }
    },
    async flush(withinMs) {
      const until = context.clock.now() + withinMs
      const isQueued = () => working !== null || exporters.some(({ delivery }) => delivery.counts().queued > 0)
      while (isQueued() && context.clock.now() < until) await pause(context.clock)
      return !isQueued()
    },
    async close(withinMs) {
      const until = context.clock.now() + withinMs
      begin()
      while (working !== null && context.clock.now() < until) await working
      await Promise.all(exporters.map(({ delivery }) => delivery.close(withinMs)))
    },
  }
}

/** What the jobs of a telemetry share. */
interface Bench {
  readonly scrubbers: TraceScrubbers
  readonly summaries: Summaries
  readonly turn: Turn
}

const noValues: ConversationValues = new Map()

async function exportJob(
  job: EndedJob,
  context: TelemetryContext,
  { scrubbers, summaries, turn }: Bench,
): Promise<void> {
  const ready = context.exporters.filter(({ delivery }) => delivery.counts().room > 0)
  if (ready.length < context.exporters.length)
    dropAll(
      context.exporters.filter((one) => !ready.includes(one)),
      job.seen,
    )
  if (ready.length === 0) return
  const isPlain = ready.every(({ content, takesFiles }) => content === 'none' && !takesFiles)
  const given = isPlain ? noValues : await context.values(job.database, job.conversation)
  const seen = job.seen ?? (await context.read(job))
  if (seen === null || given === null) return
  const agents = await context.agents(job.database, seen.starts)
  const source = { database: job.database, conversation: job.conversation, agents }
  const summary = ready.some(({ takesSummaries }) => takesSummaries) ? await summaries.upTo(job) : null
  for (const exporter of ready) {
    const form = exporter.labels.isForMlflow ? chatty : conventional
    const content = exporter.content === 'none' ? null : contentFor(seen, { given, agents, form }, scrubbers)
    const projection = createProjection(job.job, source, { content, labels: exporter.labels })
    for (const entry of seen.entries) {
      projection.take(entry)
      if (turn.isOver(content)) await turn.next()
    }
    const encoding = createEncoding(exporter, projection.spans())
    while (!encoding.add()) if (turn.isOver(content)) await turn.next()
    const files = exporter.takesFiles ? filesFor(job, seen, { given, agents, scrubbers, content: context.content }) : []
    exporter.delivery.offer(encoding.parts, {
      group: exporter.groupOf(job, files.length),
      summary: exporter.takesSummaries ? summary : null,
      files,
    })
  }
}

/** Encodes as many spans as the queue takes, one with each `add`. The others are dropped and not encoded. */
function createEncoding({ delivery, encoder }: Exporter, spans: readonly Span[]) {
  const count = Math.min(spans.length, delivery.counts().room)
  const parts: EncodedSpans[] = []
  delivery.drop(spans.length - count)
  encoder.take() // what a job left that came to nothing
  let [index, added] = [0, 0]
  return {
    parts,
    /** Returns true once all are encoded. */
    add(): boolean {
      if (index < count) {
        encoder.add(spans[index] as Span)
        index += 1
        added += 1
      }
      if (added > 0 && (index === count || added === mostInParcel.spans || encoder.bytes >= mostInParcel.bytes)) {
        parts.push(encoder.take())
        added = 0
      }
      return index === count
    },
  }
}

/** The content of a trace with full content, without what is hidden from anybody in it. */
export function contentFor(
  { starts }: SeenEntries,
  of: { readonly given: ConversationValues; readonly agents: AgentLookup; readonly form: MessageForm },
  scrubbers: TraceScrubbers,
): SpanContent {
  const { bound, hidden } = traceValuesOf(starts, of)
  return new SpanContent(scrubbers.of(hidden), { bound, form: of.form })
}

/** The artifacts of a job, without what is hidden from anybody in its trace. */
function filesFor(
  job: EndedJob,
  { entries, starts }: SeenEntries,
  of: Parameters<typeof traceValuesOf>[1] & Pick<FileSource, 'content'> & { readonly scrubbers: TraceScrubbers },
): readonly TraceFile[] {
  if (!entries.some(({ type }) => type === 'artifact')) return []
  return filesOf(job, entries, { scrub: of.scrubbers.of(traceValuesOf(starts, of).hidden), content: of.content })
}

/** Counts the spans of a job that were dropped before they were made. */
function dropAll(exporters: readonly Exporter[], seen: SeenEntries | null): void {
  if (exporters.length === 0) return
  const isSpan = ({ type, kind }: Entry) => type === 'start' || (type === 'end' && kind === 'model')
  const count = seen === null ? 1 : seen.entries.filter(isSpan).length
  for (const { delivery } of exporters) delivery.drop(count)
}

/** How often a flush looks whether everything is sent, in ms. */
const lookEveryMs = 20

function pause(clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    clock.after(lookEveryMs, resolve)
  })
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/** How much is done before the clock is read: reading it costs as much as a small entry. */
const perLook = { steps: 16, characters: 16_384 }

type Turn = ReturnType<typeof createTurn>

/** Measures how long the event loop was blocked. */
function createTurn(clock: Clock) {
  let from = clock.now()
  let steps = 0
  let read = 0
  return {
    /** Called after every entry and span, because the texts of a single one may take that long. */
    isOver(content: SpanContent | null): boolean {
      steps += 1
      const characters = content === null ? 0 : content.writer.count.read
      if (steps < perLook.steps && Math.abs(characters - read) < perLook.characters) return false
      steps = 0
      read = characters
      return clock.now() - from > turnMs
    },
    async next() {
      await nextTurn()
      from = clock.now()
    },
  }
}
