/** Brings traces to an MLflow server: over OTLP, with its REST interface for experiments and runs [Tb20]. */
import { systemClock } from '../identity/clock.ts'
import { channelOf, placeOf } from '../identity/channel.ts'
import type { ConversationSummary } from './conversation-summary.ts'
import type { Sent } from './delivery.ts'
import { MlflowArtifacts } from './mlflow-artifacts.ts'
import { askMlflow, idIn, MlflowError } from './mlflow-rest.ts'
import { faulty, type OtlpTarget, sendOtlp } from './otlp.ts'
import type { Parcel } from './parcel-queue.ts'

/** An MLflow server, and the experiment there. */
interface MlflowTarget extends Omit<OtlpTarget, 'protocol' | 'leftOut'> {
  readonly experiment: string
  /** With `conversation`, each conversation is one run there, and its traces are linked to it. */
  readonly runs: 'none' | 'conversation'
  /** Artifacts are uploaded to the run of their conversation, which is made for the first one. */
  readonly artifacts?: boolean
}

/** The most characters of a trace's session and user: with more, MLflow refuses the trace [E81]. */
export const longestMetadata = 250

/** The most runs whose ids are remembered. */
const mostRuns = 1_000
/** An MLflow server as one exporter knows it. */
export class Mlflow {
  readonly #target: MlflowTarget
  #experiment: string | null = null
  readonly #runs = new Map<string, string>()
  /** Those that are there, or will never be. */
  readonly #logged = new WeakSet<ConversationSummary>()
  readonly #artifacts: MlflowArtifacts

  constructor(target: MlflowTarget) {
    this.#target = target
    this.#artifacts = new MlflowArtifacts(target)
  }

  /** Traces of one conversation share a request if each conversation is a run, or if this one has files to upload. */
  groupOf({ database, conversation }: { readonly database: string; readonly conversation: string }, files = 0): string {
    return this.#target.runs === 'none' && files === 0 ? '' : channelOf(database, conversation)
  }

  /** Sends spans. Never rejects. */
  async send(parcels: readonly Parcel[], signal: AbortSignal, leftOut = (_: number) => {}): Promise<Sent> {
    const { url, headers } = this.#target
    let sent: Sent
    try {
      const experiment = await this.experimentId(signal)
      const group = parcels[0]?.group ?? ''
      const run = group === '' ? null : await this.#runWith(group, parcels, signal)
      const ofRun = run === null || this.#target.runs === 'none' ? {} : { 'x-mlflow-run-id': run.id }
      const all = { ...headers, 'x-mlflow-experiment-id': experiment, ...ofRun }
      sent = await sendOtlp(
        { ...this.#target, url: `${url}/v1/traces`, headers: all, protocol: 'http/protobuf', leftOut },
        parcels,
        signal,
      )
      if (sent.kind === 'taken' && run !== null) {
        const complaint = (await this.#artifacts.tag(run.id, parcels, signal).catch(tagFailed)) ?? run.complaint
        if (complaint !== null) sent = { ...sent, complaint }
      }
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
    const known = await askMlflow(this.#target, `experiments/get-by-name?experiment_name=${encodeURIComponent(name)}`, {
      signal,
    })
    const found = idIn(known.body?.['experiment'], 'experiment_id')
    if (found !== null) {
      this.#experiment = found
      return found
    }
    if (known.status !== 404) throw new MlflowError(`it answered ${known.status} for its experiment`)
    const made = await askMlflow(this.#target, 'experiments/create', { signal, body: { name } })
    const id = idIn(made.body, 'experiment_id')
    // Another process may have made it meanwhile: the next try finds it.
    if (id === null) throw new MlflowError(`it answered ${made.status} for a new experiment`)
    this.#experiment = id
    return id
  }

  /** The id of a conversation's run, which is created if there is none. */
  async runId(channel: string, { startedAt, signal }: { startedAt: number; signal: AbortSignal }): Promise<string> {
    const known = this.#runs.get(channel)
    if (known !== undefined) return known
    const experiment = await this.experimentId(signal)
    const { database, conversation } = placeOf(channel)
    const tags = { 'witan.database': database, 'witan.conversation': conversation }
    const filter = Object.entries(tags).map(([key, value]) => `tags.\`${key}\` = ${quoted(value)}`)
    const search = { experiment_ids: [experiment], filter: filter.join(' and '), max_results: 1 }
    const found = await askMlflow(this.#target, 'runs/search', { signal, body: search })
    const { runs = [] } = (found.body ?? {}) as { readonly runs?: readonly { readonly info?: unknown }[] }
    const id =
      idIn(runs[0]?.info, 'run_id') ??
      (await createRun(this.#target, { experiment, conversation, tags, startedAt }, signal))
    this.#runs.set(channel, id)
    for (const oldest of this.#runs.keys()) if (this.#runs.size > mostRuns) this.#runs.delete(oldest)
    return id
  }

  /** The run of these parcels, with the metrics up to the jobs that end in them, or why it has them not. */
  async #runWith(
    group: string,
    parcels: readonly Parcel[],
    signal: AbortSignal,
  ): Promise<{ readonly id: string; readonly complaint: string | null }> {
    // The latest sums hold those before.
    const summary = parcels.findLast((one) => one.summary !== null)?.summary ?? null
    const id = await this.runId(group, { startedAt: summary?.startedAt ?? systemClock.now(), signal })
    const complaint = summary === null ? null : await this.#log(id, summary, signal)
    return { id, complaint: (await this.#artifacts.upload(id, parcels, signal)) ?? complaint }
  }

  /**
   * Sets the metrics of a run to the sums of its conversation. MLflow shows those of the highest step, so processes may send theirs in
   * any order and as often as they like. Returns why the server never takes them, or null.
   */
  async #log(run: string, summary: ConversationSummary, signal: AbortSignal): Promise<string | null> {
    if (this.#logged.has(summary)) return null
    const { upTo: step, at: timestamp, endedAt, isFailed } = summary
    const metrics = [...summary.metrics].map(([key, value]) => ({ key, value, timestamp, step }))
    const sent = await askMlflow(this.#target, 'runs/log-batch', { signal, body: { run_id: run, metrics } })
    const complaint = sent.status === 200 ? null : `it answered ${sent.status} for the metrics of a run`
    const isRefused = faulty.includes(sent.status)
    if (complaint !== null && !(isRefused && (await isThere(this.#target, run, signal))))
      throw new MlflowError(complaint)
    this.#logged.add(summary)
    const status = isFailed ? 'FAILED' : 'FINISHED'
    if (complaint === null && endedAt !== null)
      await askMlflow(this.#target, 'runs/update', { signal, body: { run_id: run, status, end_time: endedAt } })
    return complaint
  }
}

/** False if the run was deleted there. */
async function isThere(target: MlflowTarget, run: string, signal: AbortSignal): Promise<boolean> {
  const { body } = await askMlflow(target, `runs/get?run_id=${run}`, { signal })
  const { run: shown } = (body ?? {}) as { readonly run?: { readonly info?: { readonly lifecycle_stage?: unknown } } }
  return shown?.info?.lifecycle_stage !== 'deleted'
}

async function createRun(
  target: MlflowTarget,
  of: { experiment: string; conversation: string; tags: Record<string, string>; startedAt: number },
  signal: AbortSignal,
): Promise<string> {
  const tags = Object.entries(of.tags).map(([key, value]) => ({ key, value }))
  const run = { experiment_id: of.experiment, run_name: of.conversation, start_time: of.startedAt, tags }
  const made = await askMlflow(target, 'runs/create', { signal, body: run })
  const { run: created } = (made.body ?? {}) as { readonly run?: { readonly info?: unknown } }
  const id = idIn(created?.info, 'run_id')
  if (id === null) throw new MlflowError(`it answered ${made.status} for a new run`)
  // A conversation has no end; a run that never ends would be shown as one that hangs.
  await askMlflow(target, 'runs/update', {
    signal,
    body: { run_id: id, status: 'FINISHED', end_time: of.startedAt },
  })
  return id
}

/** MLflow's filters know no escapes, but two kinds of quotes. */
function quoted(value: string): string {
  return value.includes("'") ? `"${value}"` : `'${value}'`
}

function tagFailed(): string {
  return 'it cannot be reached for the tags of a trace'
}
