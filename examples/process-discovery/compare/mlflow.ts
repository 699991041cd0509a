/** What the comparison adds to the MLflow runs that Witan makes: figures that only the task has, and what the run was. */
import type { Measured } from './measured.ts'

/** Where MLflow is. */
interface Mlflow {
  readonly url: string
  readonly experiment: string
}

/** The telemetry that makes each conversation one run there, with its traces and its usage. */
export const telemetryOf = ({ url, experiment }: Mlflow) => ({
  mlflow: { url, experiment, content: 'full', runs: 'conversation', artifacts: true } as const,
})

/** Rejects where nothing answers: better before models are asked than after. */
export async function reach(mlflow: Mlflow): Promise<void> {
  if (!URL.canParse(mlflow.url) || !/^https?:/.test(mlflow.url))
    throw new Error('--mlflow takes an http or https address.')
  await ask(mlflow, 'experiments/search?max_results=1')
}

/** Completes the run of each set-up, and names it for the set-up. Rejects if a run is not there. */
export async function completeRuns(mlflow: Mlflow, all: readonly Measured[], model: string): Promise<void> {
  const path = `experiments/get-by-name?experiment_name=${encodeURIComponent(mlflow.experiment)}`
  const { experiment } = await ask<{ experiment: { experiment_id: string } }>(mlflow, path)
  for (const measured of all) {
    const filter = `tags.\`witan.conversation\` = '${measured.conversation}'`
    const search = { experiment_ids: [experiment.experiment_id], filter, max_results: 1 }
    const { runs: [run] = [] } = await ask<{ runs?: { info: { run_id: string } }[] }>(mlflow, 'runs/search', search)
    if (run === undefined) throw new Error(`MLflow has no run of ${measured.conversation}; did its traces arrive?`)
    await ask(mlflow, 'runs/log-batch', { run_id: run.info.run_id, ...detailsOf(measured, model) })
  }
}

function detailsOf(
  { setup, questions, messages, versions, faultsFound, faultsLeft, seconds }: Measured,
  model: string,
) {
  const left = faultsLeft === null ? {} : { faults_left: faultsLeft.length }
  const figures = { questions, messages, versions, faults_found: faultsFound, ...left, seconds }
  const timestamp = Date.now()
  return {
    metrics: Object.entries(figures).map(([key, value]) => ({ key, value, timestamp, step: 0 })),
    params: Object.entries({ setup, process: 'Bike repair', model }).map(([key, value]) => ({ key, value })),
    tags: [{ key: 'mlflow.runName', value: setup }],
  }
}

async function ask<T>({ url }: Mlflow, path: string, body?: object): Promise<T> {
  const response = await fetch(`${url.replace(/\/+$/, '')}/api/2.0/mlflow/${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { 'content-type': 'application/json' },
    signal: AbortSignal.timeout(30_000),
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  }).catch(() => null)
  if (response === null) throw new Error(`MLflow at ${new URL(url).host} does not answer.`)
  if (!response.ok) throw new Error(`MLflow answered ${response.status} to ${path.split('?')[0]}.`)
  return (await response.json()) as T
}
