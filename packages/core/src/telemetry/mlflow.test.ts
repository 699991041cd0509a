/** The runs of an MLflow server, by a stand-in that keeps what it gets: the latest figures stand, whatever breaks on the way. */
import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { after, before, beforeEach, describe, test } from 'node:test'
import type { ConversationSummary } from './conversation-summary.ts'
import { Mlflow } from './mlflow.ts'
import type { Parcel } from './parcel-queue.ts'

/** The summary of a conversation with this number of model calls. */
const summary = (upTo: number, calls: number, more: Partial<ConversationSummary> = {}): ConversationSummary => ({
  ...{ upTo, at: 1_000 + upTo, startedAt: 1_000, endedAt: 1_000 + upTo, isFailed: false },
  metrics: new Map([['model_calls', calls]]),
  ...more,
})

interface Metric {
  readonly key: string
  readonly value: number
  readonly step: number
}

describe('a server of MLflow', () => {
  const runs = new Map<
    string,
    { stage: string; status: string; metrics: Map<string, Metric>; start: number; end: number }
  >()
  /** Asked in order before each answer; an answer of its own replaces the usual one. */
  let meddle: (path: string) => number | null = () => null
  const seen: string[] = []
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy())
  })
  let url = ''

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '/', url)
    const path = pathname.replace('/api/2.0/mlflow/', '')
    seen.push(path)
    const isJson = request.headers['content-type'] === 'application/json' && request.method === 'POST'
    const body = (isJson ? await json(request) : {}) as Record<string, unknown>
    const run = runs.get(String(body['run_id'] ?? searchParams.get('run_id')))
    const isRefused = path === 'runs/log-batch' && run?.stage === 'deleted'
    const status = meddle(path) ?? (isRefused ? 400 : 200)
    const live = [...runs].find(([, { stage }]) => stage === 'active')?.[0]
    const does: Record<string, () => unknown> = {
      'experiments/get-by-name': () => ({ experiment: { experiment_id: '7' } }),
      'runs/search': () => (live === undefined ? {} : { runs: [{ info: { run_id: live } }] }),
      'runs/create': () => {
        const id = `run${runs.size + 1}`
        runs.set(id, {
          stage: 'active',
          status: 'RUNNING',
          metrics: new Map(),
          start: Number(body['start_time']),
          end: 0,
        })
        return { run: { info: { run_id: id } } }
      },
      'runs/get': () => ({
        run: {
          info: { run_id: searchParams.get('run_id'), lifecycle_stage: run?.stage },
        },
      }),
      'runs/log-batch': () => {
        for (const metric of body['metrics'] as Metric[])
          if (metric.step >= (run?.metrics.get(metric.key)?.step ?? 0)) run?.metrics.set(metric.key, metric)
        return {}
      },
      'runs/update': () => Object.assign(run ?? {}, { status: body['status'], end: body['end_time'] }),
    }
    // A refusal changes nothing there; status 599 stands for an answer that is lost after the change.
    const result = status === 200 || status === 599 ? does[path]?.() : null
    if (status === 599) response.destroy()
    else response.writeHead(status).end(JSON.stringify(result ?? {}))
  }
  before(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  after(() => {
    server.closeAllConnections()
    server.close()
  })
  beforeEach(() => {
    runs.clear()
    seen.length = 0
    meddle = () => null
  })

  const open = () =>
    new Mlflow({
      url,
      headers: {},
      resource: [],
      timeoutMs: 5_000,
      experiment: 'witan',
      runs: 'conversation',
    })
  const parcel = (summary: ConversationSummary | null): Parcel => ({
    ...{ count: 0, bytes: 0, data: new Uint8Array() },
    ...{ group: 'default\nchats/1', summary },
  })
  const signal = new AbortController().signal
  const figures = (id = 'run1') => {
    const { status, metrics, start, end } = runs.get(id) ?? assert.fail(`no run ${id}`)
    return { status, start, end, calls: metrics.get('model_calls')?.value, step: metrics.get('model_calls')?.step }
  }

  test('shows when a conversation began and last ended, and whether its last run failed', async () => {
    const mlflow = open()
    assert.deepEqual(await mlflow.send([parcel(null), parcel(summary(5, 2))], signal), { kind: 'taken' })
    assert.deepEqual(figures(), { status: 'FINISHED', start: 1_000, end: 1_005, calls: 2, step: 5 })
    const task = summary(11, 4, { endedAt: 1_009, isFailed: true })
    await mlflow.send([parcel(summary(9, 3, { isFailed: true })), parcel(task)], signal)
    assert.deepEqual(figures(), { status: 'FAILED', start: 1_000, end: 1_009, calls: 4, step: 11 })
    assert.equal(runs.size, 1)
    assert.equal(seen.filter((path) => path === 'runs/log-batch').length, 2, 'once for each request with spans')
    runs.clear()
    await open().send([parcel(summary(5, 2, { endedAt: null, isFailed: true }))], signal)
    assert.deepEqual([figures().status, figures().calls], ['FINISHED', 2], 'of a task whose run goes on')
  })

  test('sends figures once while spans are sent again, and two processes may send theirs in any order', async () => {
    const mlflow = open()
    const one = parcel(summary(5, 2))
    meddle = (path) => (path === '/v1/traces' ? 503 : null)
    for (let attempt = 0; attempt < 3; attempt += 1) assert.equal((await mlflow.send([one], signal)).kind, 'failed')
    assert.deepEqual([figures().calls, seen.filter((path) => path === 'runs/log-batch').length], [2, 1])
    let isLost = false
    meddle = (path) => {
      if (path !== 'runs/log-batch' || isLost) return null
      isLost = true
      return 599
    }
    const two = parcel(summary(9, 3))
    assert.equal((await mlflow.send([two], signal)).kind, 'failed')
    // Another process has sent a later one before the lost answer is made good.
    assert.equal((await open().send([parcel(summary(11, 4))], signal)).kind, 'taken')
    assert.equal((await mlflow.send([two], signal)).kind, 'taken')
    assert.deepEqual([isLost, figures().calls, figures().step], [true, 4, 11])
  })

  test('a run that was deleted there is made anew, and metrics that are refused for good do not hold up traces', async () => {
    const mlflow = open()
    await mlflow.send([parcel(summary(5, 2))], signal)
    Object.assign(runs.get('run1') ?? {}, { stage: 'deleted' })
    const two = parcel(summary(9, 3))
    assert.equal((await mlflow.send([two], signal)).kind, 'failed')
    assert.equal((await mlflow.send([two], signal)).kind, 'taken')
    assert.deepEqual([figures('run1').calls, figures('run2').calls], [2, 3])
    meddle = (path) => (path === 'runs/log-batch' ? 400 : null)
    const sent = await mlflow.send([parcel(summary(12, 4))], signal)
    assert.deepEqual(sent, { kind: 'taken', complaint: 'it answered 400 for the metrics of a run' })
    meddle = (path) => (path === 'runs/log-batch' ? 500 : null)
    assert.equal((await mlflow.send([parcel(summary(14, 5))], signal)).kind, 'failed')
  })
})
