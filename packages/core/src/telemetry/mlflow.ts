/** Brings traces to an MLflow server: over OTLP, with its REST interface for experiments and runs [Tb20, Tb24]. */
import { systemClock } from '../identity/clock.ts'
import { channelOf, placeOf } from '../identity/channel.ts'
import type { Sent } from './delivery.ts'
import { type OtlpTarget, sendOtlp } from './otlp.ts'
import type { Parcel } from './parcel-queue.ts'

/** An MLflow server, and the experiment there. */
export interface MlflowTarget extends Omit<OtlpTarget, 'protocol'> {
  readonly experiment: string
  /** With `conversation`, each conversation is one run there, and its traces are linked to it. */
  readonly runs: 'none' | 'conversation'
}

/** The most characters of a trace's session and user: with more, MLflow refuses the trace [E81]. */
export const longestMetadata = 250

/** The most runs whose ids are remembered. */
const mostRuns = 1_000
/** How much of an answer is read. */
const longestAnswer = 1_000_000

/** What MLflow answers; `null` stands for a body that is no JSON. */
interface Answer {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>> | null
}

/** An MLflow server as one exporter knows it. */
export class Mlflow {
  readonly #target: MlflowTarget
  #experiment: string | null = null
  readonly #runs = new Map<string, string>()

  constructor(target: MlflowTarget) {
    this.#target = target
  }

  /** Traces of one conversation share a request if each conversation is a run. */
  groupOf({ database, conversation }: { readonly database: string; readonly conversation: string }): string {
    return this.#target.runs === 'none' ? '' : channelOf(database, conversation)
  }

  /** Sends spans. Never rejects. */
  async send(parcels: readonly Parcel[], signal: AbortSignal): Promise<Sent> {
    const { url, headers } = this.#target
    let sent: Sent
    try {
      const experiment = await this.experimentId(signal)
      const group = parcels[0]?.group ?? ''
      const run = group === '' ? {} : { 'x-mlflow-run-id': await this.runId(group, signal) }
      const all = { ...headers, 'x-mlflow-experiment-id': experiment, ...run }
      sent = await sendOtlp(
        { ...this.#target, url: `${url}/v1/traces`, headers: all, protocol: 'http/protobuf' },
        parcels,
        signal,
      )
    } catch (error) {
      const reason = error instanceof MlflowError ? error.message : 'it cannot be reached'
      sent = { kind: 'failed', reason, retryAfterMs: null }
    }
    if (sent.kind === 'taken') return sent
    // The experiment or the run may have been deleted there.
    this.#experiment = null
    this.#runs.clear()
    return sent
  }

  /** The id of the experiment, which is created if there is none of its name. */
  async experimentId(signal: AbortSignal): Promise<string> {
    if (this.#experiment !== null) return this.#experiment
    const { experiment: name } = this.#target
    const known = await this.#ask(`experiments/get-by-name?experiment_name=${encodeURIComponent(name)}`, signal)
    const found = idIn(known.body?.['experiment'], 'experiment_id')
    if (found !== null) {
      this.#experiment = found
      return found
    }
    if (known.status !== 404) throw new MlflowError(`it answered ${known.status} for its experiment`)
    const made = await this.#ask('experiments/create', signal, { name })
    const id = idIn(made.body, 'experiment_id')
    // Another process may have made it meanwhile: the next try finds it.
    if (id === null) throw new MlflowError(`it answered ${made.status} for a new experiment`)
    this.#experiment = id
    return id
  }

  /** The id of a conversation's run, which is created if there is none. */
  async runId(channel: string, signal: AbortSignal): Promise<string> {
    const known = this.#runs.get(channel)
    if (known !== undefined) return known
    const experiment = await this.experimentId(signal)
    const { database, conversation } = placeOf(channel)
    const tags = { 'witan.database': database, 'witan.conversation': conversation }
    const filter = Object.entries(tags).map(([key, value]) => `tags.\`${key}\` = '${value.replaceAll("'", "''")}'`)
    const search = { experiment_ids: [experiment], filter: filter.join(' and '), max_results: 1 }
    const found = await this.#ask('runs/search', signal, search)
    const { runs = [] } = (found.body ?? {}) as { readonly runs?: readonly { readonly info?: unknown }[] }
    const id = idIn(runs[0]?.info, 'run_id') ?? (await this.#createRun({ experiment, conversation, tags }, signal))
    this.#runs.set(channel, id)
    for (const oldest of this.#runs.keys()) if (this.#runs.size > mostRuns) this.#runs.delete(oldest)
    return id
  }

  async #createRun(
    { experiment, conversation, tags }: { experiment: string; conversation: string; tags: Record<string, string> },
    signal: AbortSignal,
  ): Promise<string> {
    const all = Object.entries(tags).map(([key, value]) => ({ key, value }))
    const at = systemClock.now()
    const run = { experiment_id: experiment, run_name: conversation, start_time: at, tags: all }
    const made = await this.#ask('runs/create', signal, run)
    const { run: created } = (made.body ?? {}) as { readonly run?: { readonly info?: unknown } }
    const id = idIn(created?.info, 'run_id')
    if (id === null) throw new MlflowError(`it answered ${made.status} for a new run`)
    // A conversation has no end; a run that never ends would be shown as one that hangs.
    await this.#ask('runs/update', signal, { run_id: id, status: 'FINISHED', end_time: at })
    return id
  }

  /** Reads, or with a body writes. */
  async #ask(path: string, signal: AbortSignal, body?: object): Promise<Answer> {
    const { url, headers, timeoutMs } = this.#target
    const late = new AbortController()
    const cancel = systemClock.after(timeoutMs, () => late.abort(), { background: true })
    try {
      const response = await fetch(`${url}/api/2.0/mlflow/${path}`, {
        method: body === undefined ? 'GET' : 'POST',
        redirect: 'manual',
        headers: { ...headers, 'content-type': 'application/json' },
        signal: AbortSignal.any([signal, late.signal]),
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      return { status: response.status, body: await read(response) }
    } finally {
      cancel()
    }
  }
}

/** An answer that is no success, in words for a report. */
class MlflowError extends Error {}

async function read(response: Response): Promise<Answer['body']> {
  const parts: Uint8Array[] = []
  let length = 0
  for await (const part of response.body ?? []) {
    length += part.length
    if (length > longestAnswer) return null
    parts.push(part)
  }
  try {
    const body: unknown = JSON.parse(Buffer.concat(parts).toString())
    return typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : null
  } catch {
    return null
  }
}

/** An id that MLflow gave; it goes into a header. */
function idIn(holder: unknown, key: string): string | null {
  if (typeof holder !== 'object' || holder === null) return null
  const id: unknown = Reflect.get(holder, key)
  return typeof id === 'string' && /^[\w-]{1,100}$/.test(id) ? id : null
}
