/** Uploads the artifacts of conversations to their MLflow runs, and names them in the tags of their traces [T31]. */
import type { Parcel } from './parcel-queue.ts'
import { askMlflow, idIn, MlflowError, putMlflow } from './mlflow-rest.ts'
import { faulty, type OtlpTarget } from './otlp.ts'
import type { TraceFile } from './trace-file.ts'

type Target = Pick<OtlpTarget, 'url' | 'headers' | 'timeoutMs'>

/** How often a file is tried: traces do not wait for a server that cannot store files. */
const mostTries = 3
/** The most artifacts that tags of one request name. */
const mostTags = 100

/** What one exporter has uploaded. */
export class MlflowArtifacts {
  readonly #target: Target
  /** The files that are there, or will never be. */
  readonly #settled = new WeakMap<TraceFile, 'there' | 'given up'>()
  readonly #tries = new WeakMap<TraceFile, number>()

  constructor(target: Target) {
    this.#target = target
  }

  /** Uploads the files of these parcels, each once. Returns why some are not there, or null. Throws if it should be tried again. */
  async upload(run: string, parcels: readonly Parcel[], signal: AbortSignal): Promise<string | null> {
    const files = filesIn(parcels).filter((file) => !this.#settled.has(file))
    if (files.length === 0) return null
    const root = await this.#rootOf(run, signal)
    let complaint: string | null = root === null ? 'it lets nobody but its own client store files' : null
    for (const file of files) complaint = (await this.#uploadOne(root, file, signal)) ?? complaint
    return complaint
  }

  /** Names the files in the tags of their traces, which must be there. Returns why some are not named, or null. */
  async tag(run: string, parcels: readonly Parcel[], signal: AbortSignal): Promise<string | null> {
    const there = filesIn(parcels).filter((file) => this.#settled.get(file) === 'there')
    const tags = there
      .slice(0, mostTags)
      .map(({ id, traceId, path }) => ({ traceId, key: `witan.artifact.${id}`, value: path }))
    for (const traceId of new Set(there.map((file) => file.traceId)))
      tags.push({ traceId, key: 'witan.artifacts.run', value: run })
    let complaint: string | null = null
    for (const { traceId, key, value } of tags) {
      const path = `traces/tr-${traceId}/tags`
      const { status } = await askMlflow(this.#target, path, {
        signal,
        version: '3.0',
        method: 'PATCH',
        body: { key, value },
      })
      if (status !== 200) complaint = `it answered ${status} for the tag of a trace`
    }
    return complaint
  }

  async #uploadOne(root: string | null, file: TraceFile, signal: AbortSignal): Promise<string | null> {
    const bytes = root === null ? null : await file.read()
    if (bytes === null) {
      this.#settled.set(file, 'given up')
      return null
    }
    const path = file.path.split('/').map(encodeURIComponent).join('/')
    const status = await putMlflow(this.#target, `mlflow-artifacts/artifacts/${root}/${path}`, { signal, bytes })
    if (status === 200) {
      this.#settled.set(file, 'there')
      return null
    }
    const complaint = status === null ? 'it did not take an artifact in time' : `it answered ${status} for an artifact`
    const tries = (this.#tries.get(file) ?? 0) + 1
    this.#tries.set(file, tries)
    if (!faulty.includes(status ?? 0) && tries < mostTries) throw new MlflowError(complaint)
    this.#settled.set(file, 'given up')
    return complaint
  }

  /** The folder of a run's artifacts behind the server's own store; null if the run has them elsewhere. */
  async #rootOf(run: string, signal: AbortSignal): Promise<string | null> {
    const { status, body } = await askMlflow(this.#target, `runs/get?run_id=${run}`, { signal })
    const info = (body?.['run'] as { readonly info?: unknown } | undefined)?.info
    if (status !== 200 || idIn(info, 'run_id') === null) throw new MlflowError(`it answered ${status} for a run`)
    const uri: unknown = Reflect.get(info as object, 'artifact_uri')
    return typeof uri === 'string' ? folderIn(uri) : null
  }
}

/** The path of such an address; no segment of it leads upwards. */
function folderIn(uri: string): string | null {
  const path = /^mlflow-artifacts:(?:\/\/[^/]*)?\/(.+)$/.exec(uri)?.[1] ?? ''
  const segments = path.split('/').filter((segment) => segment !== '')
  const isPlain = segments.length > 0 && segments.every((segment) => /^[\w-][\w.-]*$/.test(segment))
  return isPlain ? segments.join('/') : null
}

/** The files of parcels. */
function filesIn(parcels: readonly Parcel[]): readonly TraceFile[] {
  return parcels.flatMap(({ files = [] }) => files)
}
