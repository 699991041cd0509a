/** A real MLflow server shows what runs did: the tree of calls, found by trace id, by conversation, by person, and by MLflow run. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'
import { createRuntime, defineAgent, defineTool, localPrincipal, memoryStore, type Runtime } from '@witan/core'
import { scriptedModel } from '@witan/core/testing'
import { answerOf, url } from './support/server.ts'

interface TraceInfo {
  trace_id: string
  state: string
  trace_metadata: Record<string, string>
  tags: Record<string, string>
  request_preview: string
  response_preview: string
}
interface Value {
  string_value?: string
  int_value?: number
  array_value?: { values: Value[] }
  kvlist_value?: { values: { key: string; value: Value }[] }
}
interface MlflowSpan {
  span_id: string
  parent_span_id?: string
  name: string
  attributes: { key: string; value: Value }[]
  events: { name: string }[]
  status: { code?: string; message?: string }
}

/** Reads a trace until it holds; MLflow takes its time on a busy machine. */
async function traceOf(id: string, spans: number): Promise<{ trace_info: TraceInfo; spans: MlflowSpan[] }> {
  for (const until = performance.now() + 40_000; ; ) {
    const path = `3.0/mlflow/traces/get?trace_id=tr-${id}&allow_partial=true`
    const { body } = await answerOf<{ trace?: { trace_info: TraceInfo; spans: MlflowSpan[] } }>(path)
    if ((body.trace?.spans.length ?? 0) >= spans) return body.trace as { trace_info: TraceInfo; spans: MlflowSpan[] }
    if (performance.now() > until) assert.fail(`no trace of ${spans} spans: ${JSON.stringify(body).slice(0, 500)}`)
    await delay(200)
  }
}

async function found(experiment: string, filter: string): Promise<string[]> {
  const { body } = await answerOf<{ experiment: { experiment_id: string } }>(
    `2.0/mlflow/experiments/get-by-name?experiment_name=${experiment}`,
  )
  const place = { type: 'MLFLOW_EXPERIMENT', mlflow_experiment: { experiment_id: body.experiment.experiment_id } }
  const search = await answerOf<{ traces?: TraceInfo[] }>('3.0/mlflow/traces/search', { locations: [place], filter })
  assert.equal(search.status, 200, JSON.stringify(search.body))
  return (search.body.traces ?? []).map(({ trace_id: id }) => id).sort()
}

const plain = ({ string_value: text, int_value: whole, array_value: list, kvlist_value: fields }: Value): unknown => {
  if (list !== undefined) return list.values.map(plain)
  if (fields !== undefined) return Object.fromEntries(fields.values.map(({ key, value }) => [key, plain(value)]))
  return text ?? whole
}
const attribute = (span: MlflowSpan | undefined, name: string) => {
  const held = span?.attributes.find(({ key }) => key === name)
  return held === undefined ? undefined : plain(held.value)
}

const model = scriptedModel(({ messages }) => {
  const system = String(messages[0]?.content)
  if (!system.startsWith('You lead')) return { text: `An answer of ${system.slice(8)}` }
  const results = messages.filter(({ role }) => role === 'tool').length
  const asking = (id: string, name: string, args: object) => ({ id, name, arguments: JSON.stringify(args) })
  const both = [asking('a', 'left', { message: 'One?' }), asking('b', 'right', { message: 'Two?' })]
  if (results === 0) return { text: 'I ask both.', toolCalls: both }
  if (results === 2) return { toolCalls: [asking('c', 'broken', { word: 'hush' })] }
  return { toolCalls: [asking('d', 'transfer_to_agent', { agent_name: 'heir' })] }
})
const broken = defineTool({
  name: 'broken',
  description: 'Breaks.',
  parameters: z.object({ word: z.string() }),
  effect: 'none',
  execute: () => {
    throw new Error('it is broken')
  },
})
const leaf = (id: string) => defineAgent({ id, model, instructions: `You are ${id}.` })
const description = 'Asks it.'
const agents = () => [
  defineAgent({
    id: 'lead',
    model,
    instructions: 'You lead.',
    tools: [broken],
    subAgents: ['left', 'right'].map((agent) => ({ agent, description })),
    transfers: [{ agent: 'heir', description }],
  }),
  ...['left', 'right', 'heir'].map(leaf),
]

async function withRuntime<T>(mlflow: object, use: (runtime: Runtime) => Promise<T>): Promise<T> {
  const problems: unknown[] = []
  const telemetry = { mlflow: { url, ...mlflow } }
  const runtime = createRuntime({
    agents: agents(),
    store: memoryStore(),
    telemetry,
    report: (one) => problems.push(one),
  })
  try {
    return await use(runtime)
  } finally {
    await runtime.close()
    assert.deepEqual(problems, [])
  }
}

test('[T26] [T29] [T30] [Tb20] [Tb22] a run is one trace with its tree, its words, its tokens and its errors', async () => {
  const experiment = `tree-${randomUUID()}`
  await withRuntime({ experiment, content: 'full', runs: 'conversation' }, async (runtime) => {
    const anna = runtime.as({ ...localPrincipal, id: 'user:anna' })
    const chat = anna.conversation('lead', { id: `chats/${randomUUID()}` })
    const run = await chat.run('Begin.')
    assert.equal(run.agent, 'heir')
    const again = await chat.run('Once more.')
    const { trace_info: info, spans } = await traceOf(run.traceId, 11)
    await traceOf(again.traceId, 1)
    const nameOf = (id: string | undefined) => spans.find((span) => span.span_id === id)?.name ?? null
    const tree = spans.map(({ name, parent_span_id: parent }) => `${nameOf(parent)} > ${name}`).sort()
    assert.deepEqual(tree, [
      'invoke_agent heir > chat scripted/model',
      'invoke_agent lead > chat scripted/model',
      'invoke_agent lead > chat scripted/model',
      'invoke_agent lead > chat scripted/model',
      'invoke_agent lead > execute_tool broken',
      'invoke_agent lead > execute_tool transfer_to_agent',
      'invoke_agent lead > invoke_agent heir',
      'invoke_agent lead > invoke_agent left',
      'invoke_agent lead > invoke_agent right',
      'invoke_agent left > chat scripted/model',
      'invoke_agent right > chat scripted/model',
      'null > invoke_agent lead',
    ])
    assert.equal(info.state, 'OK', 'a failing tool leaves the trace as it is')
    const tool = spans.find(({ name }) => name === 'execute_tool broken')
    assert.deepEqual(attribute(tool, 'mlflow.spanInputs'), { word: 'hush' })
    assert.match(tool?.status.code ?? '', /ERROR/)
    const reply = spans.find(
      ({ name, parent_span_id: id }) => name.startsWith('chat') && nameOf(id) === 'invoke_agent left',
    )
    const read = JSON.stringify(attribute(reply, 'mlflow.spanInputs'))
    assert.match(
      read,
      /^\[\{"role":"system","content":"You are left\."\},\{"role":"user","content":"One\?"\}\]$/,
      'as a chat',
    )
    assert.ok(tool?.events.some(({ name }) => name === 'exception'))
    const types = new Set(spans.map((span) => attribute(span, 'mlflow.spanType')))
    assert.deepEqual([...types].sort(), ['AGENT', 'CHAT_MODEL', 'TOOL'])
    const usage = JSON.parse(info.trace_metadata['mlflow.trace.tokenUsage'] ?? '{}')
    assert.deepEqual(usage.total_tokens, run.usage.totalTokens)
    assert.match(info.request_preview, /Begin\./)
    assert.match(info.response_preview, /An answer of heir/)
    const both = [`tr-${run.traceId}`, `tr-${again.traceId}`].sort()
    assert.deepEqual(await found(experiment, `metadata.\`mlflow.trace.session\` = '${chat.id}'`), both)
    assert.deepEqual(await found(experiment, "metadata.`mlflow.trace.user` = 'user:anna'"), both)
    const id = (
      await answerOf<{ experiment: { experiment_id: string } }>(
        `2.0/mlflow/experiments/get-by-name?experiment_name=${experiment}`,
      )
    ).body
    const runs = await answerOf<{ runs: { info: { run_id: string; run_name: string } }[] }>('2.0/mlflow/runs/search', {
      experiment_ids: [id.experiment.experiment_id],
    })
    assert.deepEqual(
      runs.body.runs.map((one) => one.info.run_name),
      [chat.id],
    )
    assert.deepEqual(await found(experiment, `attributes.run_id = '${runs.body.runs[0]?.info.run_id}'`), both)
  })
})

test('[E81] [Tb21] a long session or user is cut, and the trace is there; content that is too long is cut and marked', async () => {
  const experiment = `long-${randomUUID()}`
  const user = `user:${'ä'.repeat(400)}`
  await withRuntime({ experiment, content: 'full' }, async (runtime) => {
    const chat = runtime.as({ ...localPrincipal, id: user }).conversation('left', { id: `chats/${'x'.repeat(120)}` })
    const run = await chat.run('y'.repeat(200_000))
    const { trace_info: info, spans } = await traceOf(run.traceId, 2)
    assert.equal(info.trace_metadata['mlflow.trace.user'], user.slice(0, 250))
    const root = spans.find(({ parent_span_id: parent }) => parent === undefined || parent === '')
    assert.match(JSON.stringify(attribute(root, 'mlflow.spanInputs')), /\[cut: \d+ more bytes\]/)
  })
})

test('[C32] without content MLflow gets the tree and no word', async () => {
  const experiment = `quiet-${randomUUID()}`
  await withRuntime({ experiment }, async (runtime) => {
    const run = await runtime.conversation('left').run('Do you play the xylophone?')
    const trace = await traceOf(run.traceId, 2)
    assert.ok(!JSON.stringify(trace).includes('xylophone'))
    assert.ok(!JSON.stringify(trace).includes('An answer'))
    assert.equal(trace.trace_info.state, 'OK')
  })
})

test('[E80] an experiment that was deleted there is no reason to fail a run', async () => {
  const experiment = `gone-${randomUUID()}`
  const runtime = createRuntime({
    agents: agents(),
    telemetry: { mlflow: { url, experiment } },
    report: () => {},
  })
  const first = await runtime.conversation('left').run('One.')
  await traceOf(first.traceId, 2)
  const { body } = await answerOf<{ experiment: { experiment_id: string } }>(
    `2.0/mlflow/experiments/get-by-name?experiment_name=${experiment}`,
  )
  await answerOf('2.0/mlflow/experiments/delete', { experiment_id: body.experiment.experiment_id })
  const second = await runtime.conversation('left').run('Two.')
  assert.equal(second.status, 'completed')
  await runtime.close()
})
