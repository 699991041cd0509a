/** A server that takes traces over OTLP and speaks what we use of MLflow's interface, and keeps all that it gets, sorted by what it is. */
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

/** The ways in. */
export const recorded = [
  'OTLP spans',
  'MLflow spans',
  'MLflow runs and tags',
  'MLflow artifact names',
  'MLflow artifacts',
] as const
type Way = (typeof recorded)[number]

export interface Recorder {
  /** Of the collector, and of MLflow. */
  readonly otlp: string
  readonly mlflow: string
  /** All that came in that way since the last `forget`, headers included. */
  text(way: Way): string
  forget(): void
  close(): Promise<void>
}

/** Starts a recorder on loopback. */
export async function createRecorder(): Promise<Recorder> {
  const kept = new Map<Way, string[]>()
  const runs: string[] = []
  const keep = (way: Way, text: string) => kept.set(way, [...(kept.get(way) ?? []), text])
  const server = createServer((request, response) => {
    const taken = buffer(request).then((body) => {
      const { kept: all, answer } = take(request, body, runs)
      for (const [way, text] of all) keep(way, `${text}\n${JSON.stringify(request.headers)}`)
      response.end(JSON.stringify(answer))
    })
    taken.catch(() => response.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    otlp: `${url}/otlp`,
    mlflow: url,
    text: (way) => (kept.get(way) ?? []).join('\n'),
    forget: () => kept.clear(),
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

interface Taken {
  readonly kept: readonly (readonly [Way, string])[]
  readonly answer: object
}

function take({ url = '/' }: IncomingMessage, body: Buffer, runs: string[]): Taken {
  const text = body.toString('utf8')
  if (url === '/otlp') return { kept: [['OTLP spans', text]], answer: {} }
  if (url === '/v1/traces') return { kept: [['MLflow spans', text]], answer: {} }
  const path = decodeURIComponent(url)
  if (!url.includes('/mlflow-artifacts/'))
    return { kept: [['MLflow runs and tags', `${path}\n${text}`]], answer: answerTo(path, runs) }
  return {
    kept: [
      ['MLflow artifact names', path],
      ['MLflow artifacts', text],
    ],
    answer: {},
  }
}

/** One experiment, and a run of its own for each conversation that asks for one. */
function answerTo(path: string, runs: string[]): object {
  if (path.includes('experiments/')) return { experiment: { experiment_id: '7' } }
  if (path.includes('runs/create')) {
    const id = `run${runs.push('') - 1}`
    return { run: { info: { run_id: id } } }
  }
  const id = /run_id=(\w+)/.exec(path)?.[1]
  const info = { run_id: id, lifecycle_stage: 'active', artifact_uri: `mlflow-artifacts:/7/${id}/artifacts` }
  return id === undefined ? {} : { run: { info, data: { metrics: [] } } }
}
