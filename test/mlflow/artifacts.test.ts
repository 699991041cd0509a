/** A real MLflow server keeps what agents made: in the run of their conversation, under its call, without hidden values; the trace names it. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { createRuntime, defineAgent, defineTool } from '@witan/core'
import { call, scriptedModel } from '@witan/core/testing'
import { z } from 'zod'
import { ask, url } from './support/server.ts'

const secret = 'token-4711-geheim'
const picture = Uint8Array.from({ length: 300_000 }, (_, index) => (index * 7) % 256)

interface Run {
  info: { experiment_id: string; run_id: string; run_name: string; status: string; artifact_uri: string }
}

async function runsOf(experiment: string): Promise<Run[]> {
  const path = `2.0/mlflow/experiments/get-by-name?experiment_name=${experiment}`
  const { experiment: found } = await ask<{ experiment: { experiment_id: string } }>(path)
  const { runs = [] } = await ask<{ runs?: Run[] }>('2.0/mlflow/runs/search', {
    experiment_ids: [found.experiment_id],
  })
  return runs
}

async function contentOf({ info }: Run, path: string): Promise<Buffer> {
  const folder = info.artifact_uri.replace(/^mlflow-artifacts:\/*/, '')
  const address = `${folder}/${path}`.split('/').map(encodeURIComponent).join('/')
  const response = await fetch(`${url}/api/2.0/mlflow-artifacts/artifacts/${address}`)
  assert.equal(response.status, 200, path)
  return Buffer.from(await response.arrayBuffer())
}

/** The traces that are linked to a run. */
async function linkedTo({ info }: Run): Promise<string[]> {
  const place = { type: 'MLFLOW_EXPERIMENT', mlflow_experiment: { experiment_id: info.experiment_id } }
  const filter = `attributes.run_id = '${info.run_id}'`
  const body = await ask<{ traces?: { trace_id: string }[] }>('3.0/mlflow/traces/search', {
    locations: [place],
    filter,
  })
  return (body.traces ?? []).map(({ trace_id: id }) => id)
}

async function tagsOf(traceId: string): Promise<Record<string, string>> {
  const path = `3.0/mlflow/traces/get?trace_id=tr-${traceId}&allow_partial=true`
  const { trace } = await ask<{ trace: { trace_info: { tags: Record<string, string> } } }>(path)
  return trace.trace_info.tags
}

const draw = defineTool({
  name: 'draw',
  description: 'Draws.',
  parameters: z.object({}),
  async execute(_, { artifacts }) {
    await artifacts.save({ name: 'model 100% #1?.png', mediaType: 'image/png', bytes: picture })
    await artifacts.save({ name: `${'ä'.repeat(150)}.txt`, mediaType: 'text/plain', text: 'long name' })
    await artifacts.save({ name: 'twice.txt', mediaType: 'text/plain', text: 'one' })
    await artifacts.save({ name: 'twice.txt', mediaType: 'text/plain', text: 'two' })
    await artifacts.save({ name: 'empty.txt', mediaType: 'text/plain', text: '' })
    return 'drawn'
  },
})
const report = { name: 'report.md', media_type: 'text/markdown', text: `The token is ${secret}.` }
/** Its model may not see the value that is hidden from the lead; it may say it all the same. */
const writer = defineAgent({
  id: 'writer',
  instructions: 'Write.',
  artifacts: true,
  model: scriptedModel((_, turn) => (turn === 0 ? call('save_artifact', report) : 'Written.'), { id: 'script/writer' }),
})
const lead = defineAgent({
  id: 'lead',
  instructions: 'Lead.',
  tools: [draw],
  subAgents: [{ agent: 'writer' }],
  parameters: [{ name: 'token', type: 'string', secret: true, sendToModel: false }],
  model: scriptedModel(
    (_, turn) => {
      if (turn === 0) return call('writer', { message: 'Write it.' })
      return turn === 1 ? call('draw', {}) : 'Done.'
    },
    { id: 'script/lead' },
  ),
})
const plain = defineAgent({
  id: 'plain',
  instructions: 'x',
  model: scriptedModel(() => 'Hello.', { id: 'script/plain' }),
})

for (const runs of ['none', 'conversation'] as const) {
  test(`[T31] [D15] artifacts are in the run of their conversation, runs: ${runs}`, async () => {
    const experiment = `files-${randomUUID()}`
    const problems: unknown[] = []
    const runtime = createRuntime({
      agents: [lead, writer, plain],
      telemetry: { mlflow: { url, experiment, runs, artifacts: true } },
      report: (one) => problems.push(one),
    })
    const conversation = `chats/${randomUUID()}`
    const chat = runtime.conversation('lead', { id: conversation, parameters: { token: secret } })
    const result = await chat.run('Go.')
    assert.equal(result.text, 'Done.')
    await runtime.conversation('plain').run('Hi.')
    const { items } = await runtime.artifacts.list(conversation)
    assert.equal(await runtime.flushTraces(60_000), true)
    await runtime.close()
    // A server that is slow to begin is asked again.
    assert.deepEqual(
      problems.filter((one) => !/cannot be reached|no answer/.test(String(one))),
      [],
    )
    const made = await runsOf(experiment)
    assert.equal(made.length, runs === 'none' ? 1 : 2, 'with none, only a conversation with artifacts has a run')
    const run = made.find(({ info }) => info.run_name === conversation)
    assert.ok(run)
    assert.equal(run.info.status, 'FINISHED')
    const tags = await tagsOf(result.traceId)
    assert.equal(tags['witan.artifacts.run'], run.info.run_id)
    assert.deepEqual(await linkedTo(run), runs === 'none' ? [] : [`tr-${result.traceId}`])
    const paths = items.map(({ id }) => tags[`witan.artifact.${id}`] ?? '')
    const [written, drawn] = [items[0]?.callId, items[1]?.callId]
    assert.deepEqual(paths, [
      `lead/writer/${written}/report.md`,
      `lead/${drawn}/model 100_ _1_.png`,
      `lead/${drawn}/${items[2]?.id}`,
      `lead/${drawn}/twice.txt`,
      `lead/${drawn}/${items[4]?.id}/twice.txt`,
      `lead/${drawn}/empty.txt`,
    ])
    const contents: Buffer[] = []
    for (const path of paths) contents.push(await contentOf(run, path))
    assert.equal(String(contents[0]), 'The token is [hidden].', 'hidden from one of the trace, hidden there')
    assert.ok(contents[1]?.equals(picture))
    assert.deepEqual(contents.slice(2).map(String), ['long name', 'one', 'two', ''])
    assert.ok(!JSON.stringify(tags).includes(secret))
  })
}

test('[T31] without the key nothing is uploaded, and no run is made', async () => {
  const experiment = `quiet-${randomUUID()}`
  const runtime = createRuntime({ agents: [lead, writer], telemetry: { mlflow: { url, experiment } } })
  await runtime.conversation('lead', { parameters: { token: secret } }).run('Go.')
  await runtime.flushTraces(60_000)
  await runtime.close()
  assert.deepEqual(await runsOf(experiment), [])
})
