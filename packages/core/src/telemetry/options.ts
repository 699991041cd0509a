/** The options of telemetry, and the exporters made from them. */
import { WitanError } from '@witan/protocol'
import type { Clock } from '../identity/clock.ts'
import { Delivery } from './delivery.ts'
import { Mlflow } from './mlflow.ts'
import { encoderOf, type OtlpProtocol, sendOtlp } from './otlp.ts'
import { SpanLabels } from './span-label.ts'
import type { Exporter } from './telemetry.ts'

/** An OTLP collector that gets the spans of every run. */
interface OtlpOptions {
  /** Such as `http://127.0.0.1:4318/v1/traces`. */
  readonly url: string
  /** Sent with every request, and never logged. */
  readonly headers?: Readonly<Record<string, string>>
  /** Default: `http/protobuf`. */
  readonly protocol?: OtlpProtocol
  /** `full` exports what was said, without hidden values. Default: `none`. */
  readonly content?: 'none' | 'full'
  /** How many spans wait at most; more are dropped and counted. Default 2,048. */
  readonly maxQueue?: number
}

/** An MLflow server that gets the traces of every run, from version 3.6 on. */
interface MlflowOptions {
  /** Such as `http://127.0.0.1:5000`. */
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  /** The experiment's name; it is created if there is none. Default: `witan`. */
  readonly experiment?: string
  /** `full` exports what was said, without hidden values. Default: `none`. */
  readonly content?: 'none' | 'full'
  /** With `conversation`, each conversation is one MLflow run with its traces. Default: `none`. */
  readonly runs?: 'none' | 'conversation'
  /** Uploads artifacts, without hidden values, to the MLflow run of their conversation, whatever `content` says. Default: false. */
  readonly artifacts?: boolean
  /** How many spans wait at most; more are dropped and counted. Default 2,048. */
  readonly maxQueue?: number
}

/** Where traces go. A part that is absent costs nothing. */
export interface TelemetryOptions {
  readonly otlp?: OtlpOptions
  readonly mlflow?: MlflowOptions
  /** Whether figures are counted, for `metrics()` and `/metrics`. Default: false. */
  readonly metrics?: boolean
}

/** What exporters need from the runtime. */
interface ExporterContext {
  readonly clock: Clock
  readonly random: () => number
  report(error: unknown): void
}

const defaults = { maxQueue: 2_048, timeoutMs: 10_000 }

/** The resource that all spans are of. */
const resource = ['service.name', 'witan', 'service.version', '0.1.0']

/** The exporters of these options. Throws `CONFIG_INVALID`, and never repeats a header. */
export function exportersOf({ otlp, mlflow }: TelemetryOptions, context: ExporterContext): readonly Exporter[] {
  const first = otlp === undefined ? [] : [otlpExporter(otlp, context)]
  return mlflow === undefined ? first : [...first, mlflowExporter(mlflow, context)]
}

/** MLflow always gets protobuf: its reader of JSON takes the ids of links for base64. */
function mlflowExporter(options: MlflowOptions, context: ExporterContext): Exporter {
  const {
    url,
    headers = {},
    experiment = 'witan',
    content = 'none',
    runs = 'none',
    artifacts = false,
    maxQueue = defaults.maxQueue,
  } = options
  const address = checkedUrl('mlflow', url).replace(/\/+$/, '')
  const target = { url: address, headers: checkedHeaders('mlflow', headers), resource, timeoutMs: defaults.timeoutMs }
  checkQueue('mlflow', maxQueue)
  const mlflow = new Mlflow({ ...target, experiment, runs, artifacts })
  const delivery = new Delivery({
    ...{ name: nameOf(address), maxQueue, clock: context.clock, random: context.random },
    report: (error) => context.report(error),
    send: (parcels, signal, leftOut) => mlflow.send(parcels, signal, leftOut),
  })
  const encoder = encoderOf('http/protobuf')
  const forMlflow = { labels: new SpanLabels(true), takesFiles: artifacts, takesSummaries: runs === 'conversation' }
  return { content, ...forMlflow, delivery, encoder, groupOf: (job, files) => mlflow.groupOf(job, files) }
}

function otlpExporter(options: OtlpOptions, context: ExporterContext): Exporter {
  const { url, headers = {}, protocol = 'http/protobuf', content = 'none', maxQueue = defaults.maxQueue } = options
  const target = { url: checkedUrl('otlp', url), headers: checkedHeaders('otlp', headers), protocol, resource }
  checkQueue('otlp', maxQueue)
  const delivery = new Delivery({
    ...{ name: nameOf(target.url), maxQueue, clock: context.clock, random: context.random },
    report: (error) => context.report(error),
    send: (parcels, signal, leftOut) =>
      sendOtlp({ ...target, timeoutMs: defaults.timeoutMs, leftOut }, parcels, signal),
  })
  const plain = { labels: new SpanLabels(false), takesFiles: false, takesSummaries: false }
  return { content, ...plain, delivery, encoder: encoderOf(protocol), groupOf: () => '' }
}

/** The host of an address; its path or query may hold a key. */
function nameOf(url: string): string {
  return new URL(url).host
}

/** An http or https address. It is not repeated in the error, since it may hold a password. */
function checkedUrl(key: string, url: string): string {
  const path = `telemetry.${key}.url`
  if (!URL.canParse(url) || !/^https?:/i.test(url))
    throw new WitanError('CONFIG_INVALID', `\`${path}\` must be an http or https URL.`, { path })
  const { username, password } = new URL(url)
  if (username !== '' || password !== '')
    throw new WitanError('CONFIG_INVALID', `\`${path}\` must not hold a user name or password.`, {
      path,
      hint: 'Send them as a header.',
    })
  return url
}

/** Headers that can be sent. */
function checkedHeaders(key: string, given: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const path = `telemetry.${key}.headers`
  const checked: Record<string, string> = {}
  for (const [name, value] of Object.entries(given)) {
    try {
      new Headers([[name, value]])
    } catch {
      // Without a cause: the platform's own message repeats the value.
      throw new WitanError('CONFIG_INVALID', `The header "${name}" of \`${path}\` cannot be sent.`, {
        path,
        hint: 'Look for a line end or a letter outside Latin-1.',
      })
    }
    checked[name.toLowerCase()] = value
  }
  return checked
}

/** The bound of a queue. */
function checkQueue(key: string, maxQueue: number): void {
  const path = `telemetry.${key}.maxQueue`
  if (!Number.isInteger(maxQueue) || maxQueue < 1 || maxQueue > 1_000_000)
    throw new WitanError('CONFIG_INVALID', `\`${path}\` must be an integer from 1 to 1,000,000.`, { path })
}
