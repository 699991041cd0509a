/** `/metrics`, by the contract alone: names, labels, what they count, and what never stands in them. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createModelServer } from './support/model-server.ts'
import { agent, createStage, type Stage, until } from './support/stage.ts'
import { createWitan } from './support/witan.ts'

let stage: Stage
before(async () => {
  stage = await createStage({ prepare: () => ({ telemetry: { metrics: true } }) })
})
after(() => stage?.close())

interface Sample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

async function text(): Promise<string> {
  const response = await fetch(`${stage.witan.url}/metrics`)
  assert.equal(response.status, 200)
  assert.match(response.headers.get('content-type') ?? '', /^text\/plain; version=0\.0\.4/)
  return response.text()
}

/** Reads every line of the format, and fails for any other. */
function samplesIn(page: string): Sample[] {
  assert.ok(page.endsWith('\n'))
  const lines = page.split('\n').slice(0, -1)
  const samples: Sample[] = []
  for (const line of lines) {
    if (/^# (HELP|TYPE) [a-z_]+ .+$/.test(line)) continue
    const [, name = '', labels = '', value = ''] = /^([a-z_]+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? assert.fail(line)
    const pairs = [...labels.matchAll(/([a-z_]+)="((?:[^"\\]|\\[\\"n])*)"(?:,|$)/g)]
    assert.equal(pairs.map(([whole]) => whole).join(''), labels, line)
    const read = (written: string) => written.replace(/\\(.)/g, (_, sign: string) => (sign === 'n' ? '\n' : sign))
    samples.push({
      name,
      labels: Object.fromEntries(pairs.map(([, key, of]) => [key, read(of ?? '')])),
      value: Number(value),
    })
  }
  return samples
}

const samples = async () => samplesIn(await text())
async function reading(name: string, labels: Record<string, string> = {}): Promise<number | undefined> {
  const found = (await samples()).filter(
    (one) => one.name === name && Object.entries(labels).every(([key, value]) => one.labels[key] === value),
  )
  assert.ok(found.length <= 1, `${found.length} of ${name}`)
  return found[0]?.value
}

const bounds = Array.from({ length: 14 }, (_, index) => String(4 ** index))

test('every metric of the contract is there from the beginning, at 0', async () => {
  const page = await text()
  for (const [name, type] of [
    ['gen_ai_client_token_usage', 'histogram'],
    ['gen_ai_client_operation_duration_seconds', 'histogram'],
    ['witan_runs_total', 'counter'],
    ['witan_open_interruptions', 'gauge'],
    ['witan_telemetry_queued', 'gauge'],
    ['witan_telemetry_dropped_total', 'counter'],
    ['witan_event_readers', 'gauge'],
  ])
    assert.ok(page.includes(`# TYPE ${name} ${type}\n`), name)
  for (const status of ['completed', 'failed', 'cancelled'])
    assert.equal(await reading('witan_runs_total', { status }), 0)
  for (const name of ['witan_open_interruptions', 'witan_telemetry_queued', 'witan_event_readers'])
    assert.equal(await reading(name), 0, name)
})

test('model calls, runs and interruptions are counted', async () => {
  await stage.save(agent('clerk', { questions: true }), agent('broken'))
  const asked = { name: 'ask_question', args: { questions: [{ id: 'q1', text: 'The secret word?', freeText: true }] } }
  stage.model.script(
    'clerk',
    { text: 'one', usage: { input: 100, output: 5 } },
    { calls: [asked], usage: { input: 5000, output: 2 } },
  )
  stage.model.on('broken', () => ({ status: 400 }))
  await stage.ask('clerk', 'Hello.')
  const waiting = await stage.ask('clerk', 'A secret word, please.')
  assert.equal(waiting.status, 'waiting')
  const failed = await stage.ask('broken', 'Hello.')
  assert.equal(failed.status, 'failed')
  const model = { gen_ai_request_model: 'play/clerk' }
  const input = { ...model, gen_ai_token_type: 'input' }
  assert.equal(await reading('gen_ai_client_token_usage_count', input), 2)
  assert.equal(await reading('gen_ai_client_token_usage_sum', input), 5100)
  assert.equal(await reading('gen_ai_client_token_usage_sum', { ...model, gen_ai_token_type: 'output' }), 7)
  const buckets = (await samples()).filter(
    ({ name, labels }) =>
      name === 'gen_ai_client_token_usage_bucket' &&
      labels.gen_ai_request_model === 'play/clerk' &&
      labels.gen_ai_token_type === 'input',
  )
  assert.deepEqual(
    buckets.map(({ labels }) => labels.le),
    [...bounds, '+Inf'],
  )
  assert.deepEqual(
    buckets.map(({ value }) => value),
    [0, 0, 0, 0, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2],
  )
  assert.equal(await reading('gen_ai_client_operation_duration_seconds_count', model), 2)
  assert.equal(await reading('witan_runs_total', { status: 'completed' }), 1)
  assert.equal(await reading('witan_runs_total', { status: 'failed' }), 1)
  assert.equal(await reading('witan_open_interruptions'), 1)
  const cancel = await stage.witan.call('POST', `/api/v1/runs/${waiting.runId}/cancel`, { body: {} })
  assert.equal(cancel.status, 202)
  await until(
    () => reading('witan_open_interruptions'),
    (value) => value === 0,
  )
  await until(
    () => reading('witan_runs_total', { status: 'cancelled' }),
    (value) => value === 1,
  )
  const page = await text()
  for (const word of ['secret', 'user:local', 'Hello', 'broken']) assert.ok(!page.includes(word), word)
})

test('readers of events are counted while they read', async () => {
  const { id } = await stage.begin('clerk')
  const stop = new AbortController()
  const { signal } = stop
  const headers = { accept: 'text/event-stream' }
  await fetch(`${stage.witan.url}/api/v1/conversations/${encodeURIComponent(id)}/events`, { headers, signal })
  await until(
    () => reading('witan_event_readers'),
    (value) => value === 1,
  )
  stop.abort()
  await until(
    () => reading('witan_event_readers'),
    (value) => value === 0,
  )
})

test('names of models cannot break the page, nor make more series than there is room for', async () => {
  const odd = 'play/x"} 1\nwitan_runs_total{status="hacked'
  await stage.save(agent('odd', { model: odd }))
  stage.model.on('x"} 1\nwitan_runs_total{status="hacked', () => ({ text: 'ok', usage: { input: 1, output: 1 } }))
  await stage.ask('odd', 'Hello.')
  assert.equal(await reading('gen_ai_client_operation_duration_seconds_count', { gen_ai_request_model: odd }), 1)
  assert.deepEqual(
    (await samples()).filter(({ name }) => name === 'witan_runs_total').map(({ labels }) => labels.status),
    ['completed', 'failed', 'cancelled'],
  )
  const many = Array.from({ length: 120 }, (_, index) => `many-${index}`)
  for (const id of many) stage.model.on(id, () => ({ text: 'ok', usage: { input: 1, output: 1 } }))
  await stage.save(...many.slice(0, 60).map((id) => agent(id)))
  await stage.save(...many.slice(60).map((id) => agent(id)))
  await Promise.all(many.map((id) => stage.ask(id, 'Hello.')))
  const models = new Set((await samples()).flatMap(({ labels }) => labels.gen_ai_request_model ?? []))
  assert.equal(models.size, 100)
  assert.ok(models.has('other'))
})

test('without `telemetry.metrics` there is nothing', async () => {
  const model = await createModelServer()
  const witan = await createWitan({ modelUrl: model.url })
  try {
    const response = await fetch(`${witan.url}/metrics`)
    assert.equal(response.status, 404)
    assert.equal(((await response.json()) as { code: string }).code, 'NOT_FOUND')
  } finally {
    await witan.close()
    await model.close()
  }
})
