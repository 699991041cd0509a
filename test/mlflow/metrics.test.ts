/** One table of MLflow compares conversations: each is a run there with its usage, in total and for each agent. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { createRuntime, defineAgent, memoryStore } from '@witan/core'
import { scriptedModel } from '@witan/core/testing'
import { openCrossing } from './support/crossing.ts'
import { ask, url } from './support/server.ts'

interface Run {
  info: {
    run_name: string
    status: string
    start_time: number
    end_time: number
    experiment_id: string
    run_id: string
  }
  data: {
    metrics?: { key: string; value: number }[]
    params?: { key: string; value: string }[]
  }
}

/** The runs of an experiment as its table shows them, the oldest first. */
async function runsOf(experiment: string) {
  const path = `2.0/mlflow/experiments/get-by-name?experiment_name=${experiment}`
  const { experiment: found } = await ask<{ experiment: { experiment_id: string } }>(path)
  const search = { experiment_ids: [found.experiment_id], order_by: ['attributes.start_time ASC'] }
  const { runs = [] } = await ask<{ runs?: Run[] }>('2.0/mlflow/runs/search', search)
  const fields = <V>(list: { key: string; value: V }[] = []) =>
    Object.fromEntries(list.map(({ key, value }) => [key, value]))
  return runs.map(({ info, data }) => ({ ...info, metrics: fields(data.metrics), params: fields(data.params) }))
}

const greeter = (id: string, isBroken = false) =>
  defineAgent({
    id,
    instructions: 'Greet.',
    model: scriptedModel(() => (isBroken ? new Error('it broke') : 'Hello.'), { id: `script/${id}` }),
  })

test('[Tb15] the runs of a conversation add up, and a failed one makes the MLflow run FAILED', async () => {
  const experiment = `sums-${randomUUID()}`
  const problems: unknown[] = []
  const runtime = createRuntime({
    agents: [greeter('well'), greeter('badly', true)],
    telemetry: { mlflow: { url, experiment, runs: 'conversation' } },
    report: (one) => problems.push(one),
  })
  const chat = runtime.conversation('well', { id: 'chats/well' })
  const results = [await chat.run('One.'), await chat.run('Two, and this is longer.')]
  const failed = await runtime.conversation('badly', { id: 'chats/badly' }).run('Three.')
  assert.ok(await runtime.flushTraces(60_000))
  await runtime.close()
  assert.deepEqual([failed.status, problems], ['failed', []])
  const [well, badly] = await runsOf(experiment)
  assert.deepEqual(
    [well?.run_name, well?.status, well?.metrics['runs'], well?.metrics['failed_runs']],
    ['chats/well', 'FINISHED', 2, 0],
  )
  assert.deepEqual([badly?.run_name, badly?.status, badly?.metrics['failed_runs']], ['chats/badly', 'FAILED', 1])
  const tokens = results.reduce((sum, { usage }) => sum + usage.totalTokens, 0)
  assert.deepEqual([well?.metrics['total_tokens'], well?.metrics['well/total_tokens']], [tokens, tokens])
  assert.equal(well?.metrics['cost_usd'], undefined, 'the price of a script is not known')
  assert.ok((well?.end_time ?? 0) >= (well?.start_time ?? 1))
})

test('[Tb15] runs that end in two processes at one moment both count, and a fork counts what is its own', async () => {
  const experiment = `two-${randomUUID()}`
  const store = memoryStore()
  const problems: unknown[] = []
  const crossing = await openCrossing()
  const open = () =>
    createRuntime({
      agents: [greeter('well')],
      store,
      telemetry: { mlflow: { url: crossing.url, experiment, runs: 'conversation' } },
      report: (one) => problems.push(one),
    })
  const [one, other] = [open(), open()]
  const made = `chats/${randomUUID()}`
  await one.conversation('well', { id: made }).run('One.')
  assert.ok(await one.flushTraces(60_000))
  crossing.cross()
  await one.conversation('well', { id: made }).run('Two.')
  await other.conversation('well', { id: made }).run('Three.')
  await Promise.all([one.flushTraces(60_000), other.flushTraces(60_000)])
  const { lastSeq } = await one.getConversation(made)
  const fork = await one.forkConversation(made, { seq: lastSeq })
  await one.conversation('well', { id: fork.id }).run('Four.')
  assert.ok(await one.flushTraces(60_000))
  await Promise.all([one.close(), other.close()])
  crossing.close()
  assert.deepEqual(problems, [])
  const counts = (await runsOf(experiment)).map(({ run_name: name, metrics }) => [
    name,
    metrics['runs'],
    metrics['well/model_calls'],
  ])
  assert.deepEqual(
    counts.sort(),
    [
      [made, 3, 3],
      [fork.id, 1, 1],
    ].sort(),
  )
})

/** The paths of all files of a run, below this one. */
async function filesOf(run: string, path = ''): Promise<readonly string[]> {
  const found = await ask<{ files?: { path: string; is_dir: boolean }[] }>(
    `2.0/mlflow/artifacts/list?run_id=${run}&path=${encodeURIComponent(path)}`,
  )
  const lists = (found.files ?? []).map((file) => (file.is_dir ? filesOf(run, file.path) : [file.path]))
  return (await Promise.all(lists)).flat()
}

interface Measured {
  readonly setup: string
  readonly modelCalls: number
  readonly inputTokens: number
  readonly questions: number
  readonly versions: number
  readonly messages: number
  readonly faultsFound: number
  readonly faultsLeft: readonly string[]
  readonly byAgent: Readonly<Record<string, { modelCalls: number; inputTokens: number; toolCalls: number }>>
}

test('[Tb15] [Tb28] [T31] the four set-ups of the process discovery are four runs in one table, with their models', async () => {
  const experiment = `discovery-${randomUUID()}`
  const words = ['compare.ts', '--json', '--mlflow', url, '--experiment', experiment]
  const cwd = fileURLToPath(new URL('../../examples/process-discovery', import.meta.url))
  const out = await new Promise<string>((resolve, reject) => {
    execFile(process.execPath, ['--conditions=witan-source', '--no-warnings', ...words], { cwd }, (error, stdout) =>
      error === null ? resolve(stdout) : reject(error),
    )
  })
  const { setups } = JSON.parse(out) as { setups: Measured[] }
  const runs = await runsOf(experiment)
  assert.deepEqual(
    runs.map(({ run_name, status, params }) => [run_name, status, params]),
    ['monolithic', 'duo', 'manager', 'team'].map((setup) => [
      setup,
      'FINISHED',
      { setup, process: 'Bike repair', model: 'script' },
    ]),
  )
  for (const [index, one] of setups.entries()) {
    const { metrics = {} } = runs[index] ?? {}
    const shown = ['model_calls', 'input_tokens', 'questions', 'messages', 'faults_found', 'faults_left'].map(
      (key) => metrics[key],
    )
    const { modelCalls, inputTokens, questions, messages, faultsFound, faultsLeft } = one
    assert.deepEqual(shown, [modelCalls, inputTokens, questions, messages, faultsFound, faultsLeft.length], one.setup)
    const byAgent: Record<string, number> = {}
    for (const [path, used] of Object.entries(one.byAgent)) {
      const agent = path.split('/').at(-1)?.replace('@', '') ?? ''
      byAgent[`${agent}/input_tokens`] = (byAgent[`${agent}/input_tokens`] ?? 0) + used.inputTokens
      byAgent[`${agent}/model_calls`] = (byAgent[`${agent}/model_calls`] ?? 0) + used.modelCalls
      byAgent[`${agent}/tool_calls`] = (byAgent[`${agent}/tool_calls`] ?? 0) + used.toolCalls
    }
    const files = await filesOf(runs[index]?.run_id ?? '')
    assert.equal(files.filter((file) => file.endsWith('/process-model.json')).length, one.versions, files.join(' '))
    assert.ok(files.some((file) => file.endsWith('/process-model.mmd')))
    for (const [key, value] of Object.entries(byAgent)) assert.equal(metrics[key], value, `${one.setup}: ${key}`)
  }
})
