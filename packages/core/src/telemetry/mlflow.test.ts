/** The runs of an MLflow server, by a stand-in that keeps what it gets: metrics are added up once, whatever breaks on the way. */
import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { after, before, beforeEach, describe, test } from 'node:test'
import { addModelCall, emptyCounters } from '@witan/protocol/entries'
import type { JobSummary } from './job-summary.ts'
import { Mlflow } from './mlflow.ts'
import { metricsAfter } from './mlflow-metrics.ts'
import type { Parcel } from './parcel-queue.ts'

/** What an agent used: calls of 10 tokens read and 2 written, at a price or none. */
function used(calls: number, costUsd?: number) {
  const counters = emptyCounters()
  const usage = { inputTokens: 10, outputTokens: 2, cachedInputTokens: 0, reasoningTokens: 0 }
  for (let call = 0; call < calls; call += 1)
    addModelCall(counters, { ...usage, ...(costUsd === undefined ? {} : { costUsd }) })
  return counters
}
const job = (
  upTo: number,
  byAgent: Record<string, ReturnType<typeof used>>,
  more: Partial<JobSummary> = {},
): JobSummary => ({
  ...{ upTo, startedAt: 1_000, endedAt: 1_000 + upTo, isRun: true, isFailed: false },
  byAgent: new Map(Object.entries(byAgent)),
  ...more,
})

describe('the metrics of a run', () => {
  test('[Tb15] add up in total and for each agent', () => {
    const first = metricsAfter(new Map(), job(5, { boss: used(2), leaf: used(1) }))
    const second = metricsAfter(first, job(9, { boss: used(1) }, { isFailed: true }))
    assert.deepEqual(Object.fromEntries(second), {
      ...{
        runs: 2,
        failed_runs: 1,
        model_calls: 4,
        tool_calls: 0,
        input_tokens: 40,
        output_tokens: 8,
        total_tokens: 48,
      },
      ...{
        'boss/model_calls': 3,
        'boss/tool_calls': 0,
        'boss/input_tokens': 30,
        'boss/output_tokens': 6,
        'boss/total_tokens': 36,
      },
    })
    assert.equal(first.get('leaf/model_calls'), 1, 'of an agent that did nothing more, nothing is sent again')
    const task = metricsAfter(second, job(12, { leaf: used(1) }, { isRun: false }))
    assert.deepEqual([task.has('runs'), task.get('model_calls')], [false, 5])
  })

  test('[E83] an unknown cost is never 0, and a sum that lacks a part says so', () => {
    const costs = (...all: (number | undefined)[]) => {
      let before: ReadonlyMap<string, number> = new Map()
      for (const [index, cost] of all.entries())
        before = new Map([...before, ...metricsAfter(before, job(index + 1, { a: used(1, cost) }))])
      return [
        before.get('cost_usd'),
        before.get('cost_incomplete'),
        before.get('a/cost_usd'),
        before.get('a/cost_incomplete'),
      ]
    }
    assert.deepEqual(costs(undefined, undefined), [undefined, undefined, undefined, undefined])
    assert.deepEqual(costs(0.5, 0.25), [0.75, undefined, 0.75, undefined])
    assert.deepEqual(costs(0.5, undefined), [0.5, 1, 0.5, 1])
    assert.deepEqual(costs(undefined, 0.5, 0.5), [1, 1, 1, 1])
    const lost = metricsAfter(new Map(), job(1, { a: { ...used(1), complete: false } }))
    assert.deepEqual([lost.get('usage_incomplete'), lost.get('a/usage_incomplete')], [1, 1])
  })

  test('a request never has more metrics than MLflow takes, nor a name that it refuses', () => {
    const many = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`agent-${index}`, used(1, 0.1)]))
    const metrics = metricsAfter(new Map(), job(1, { ...many, 'a b:c': used(1), '@x@y.example': used(1) }))
    assert.ok(metrics.size <= 1_000)
    assert.equal(metrics.get('model_calls'), 502, 'the total counts all of them')
    for (const name of metrics.keys()) assert.match(name, /^[a-z0-9_/-]+$/)
  })
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
    const status = meddle(path) ?? 200
    const run = runs.get(String(body['run_id'] ?? searchParams.get('run_id')))
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
          data: { metrics: [...(run?.metrics.values() ?? [])] },
        },
      }),
      'runs/log-batch': () => {
        for (const metric of body['metrics'] as Metric[]) run?.metrics.set(metric.key, metric)
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
  const parcel = (summary: JobSummary | null): Parcel => ({
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
    assert.deepEqual(await mlflow.send([parcel(null), parcel(job(5, { a: used(2) }))], signal), { kind: 'taken' })
    assert.deepEqual(figures(), { status: 'FINISHED', start: 1_000, end: 1_005, calls: 2, step: 5 })
    await mlflow.send(
      [parcel(job(9, { a: used(1) }, { isFailed: true })), parcel(job(11, { b: used(1) }, { isRun: false }))],
      signal,
    )
    assert.deepEqual(figures(), { status: 'FAILED', start: 1_000, end: 1_009, calls: 4, step: 11 })
    assert.equal(runs.size, 1)
  })

  test('counts a job once, though its spans are sent again and again, or the answer is lost', async () => {
    const mlflow = open()
    const one = parcel(job(5, { a: used(2) }))
    meddle = (path) => (path === '/v1/traces' ? 503 : null)
    for (let attempt = 0; attempt < 3; attempt += 1) assert.equal((await mlflow.send([one], signal)).kind, 'failed')
    assert.equal(figures().calls, 2)
    let isLost = false
    meddle = (path) => {
      if (path !== 'runs/log-batch' || isLost) return null
      isLost = true
      return 599
    }
    const two = parcel(job(9, { a: used(1) }))
    assert.equal((await mlflow.send([two], signal)).kind, 'failed')
    assert.equal((await mlflow.send([two], signal)).kind, 'taken')
    assert.deepEqual([isLost, figures().calls], [true, 3])
    // Another process has sent a later one: the sum counts all the same.
    assert.equal((await open().send([parcel(job(7, { a: used(1) }))], signal)).kind, 'taken')
    assert.deepEqual([figures().calls, figures().step], [4, 9])
  })

  test('a run that was deleted there is made anew, and metrics that are refused for good do not hold up traces', async () => {
    const mlflow = open()
    await mlflow.send([parcel(job(5, { a: used(2) }))], signal)
    Object.assign(runs.get('run1') ?? {}, { stage: 'deleted' })
    const two = parcel(job(9, { a: used(1) }))
    assert.equal((await mlflow.send([two], signal)).kind, 'failed')
    assert.equal((await mlflow.send([two], signal)).kind, 'taken')
    assert.deepEqual([figures('run1').calls, figures('run2').calls], [2, 1])
    meddle = (path) => (path === 'runs/log-batch' ? 400 : null)
    const sent = await mlflow.send([parcel(job(12, { a: used(1) }))], signal)
    assert.deepEqual(sent, { kind: 'taken', complaint: 'it answered 400 for the metrics of a run' })
    runs.get('run2')?.metrics.set('x'.repeat(1_000_000), { key: 'x'.repeat(1_000_000), value: 1, step: 1 })
    meddle = () => null
    const unread = await mlflow.send([parcel(job(13, { a: used(1) }))], signal)
    assert.deepEqual(unread, {
      kind: 'taken',
      complaint: 'the run of a conversation cannot be read, and has no metrics',
    })
    runs.get('run2')?.metrics.delete('x'.repeat(1_000_000))
    meddle = (path) => (path === 'runs/log-batch' ? 500 : null)
    assert.equal((await mlflow.send([parcel(job(14, { a: used(1) }))], signal)).kind, 'failed')
  })
})
