/** What spans share: one list for the same agent, place and model, and another as soon as one of these differs. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AgentData } from '@witan/protocol'
import type { AgentStartBody, CallPlace } from '@witan/protocol/entries'
import type { Attributes } from './span.ts'
import { SpanLabels } from './span-label.ts'

const place = (more: Partial<CallPlace> = {}): CallPlace => ({
  ...{ call: 'call_1', parentCall: null, run: 'call_1', document: 'd', invocation: 'call_1' },
  ...{ author: 'boss', agentPath: 'user/boss', ...more },
})
const data = (model: string, workflow: unknown = null) => ({ model, workflow }) as AgentData
const body = (agent: string, revision = 1, model?: string) =>
  ({ agent, revision, ...(model === undefined ? {} : { overrides: { model } }) }) as AgentStartBody
const named = (attributes: Attributes, name: string) =>
  attributes.find((_, index) => index % 2 === 1 && attributes[index - 1] === name)

test('[C32] the labels of an agent differ by database, place, branch, revision and model, and are the same otherwise', () => {
  const labels = new SpanLabels(false)
  const of = (database: string, at: CallPlace, start: AgentStartBody) =>
    labels.starting({ place: at, body: start }, database, () => data('local/qwen3')).agent
  const first = of('default', place(), body('boss'))
  assert.equal(of('default', place({ call: 'call_2', run: 'call_2' }), body('boss')), first)
  const others = [
    of('other', place(), body('boss')),
    of('default', place({ agentPath: 'user/lead/boss' }), body('boss')),
    of('default', place({ branches: ['panel.0'] }), body('boss')),
    of('default', place(), body('boss', 2)),
    of('default', place(), body('boss', 1, 'remote/large')),
  ]
  assert.equal(new Set([first, ...others]).size, others.length + 1)
  assert.deepEqual(
    others.map(({ shared }) => named(shared, 'gen_ai.request.model')),
    ['qwen3', 'qwen3', 'qwen3', 'qwen3', 'large'],
  )
  assert.deepEqual([first.name, named(first.shared, 'mlflow.spanType')], ['invoke_agent boss', undefined])
})

test('[C32] replies and tools share by model, end and name; what a model made up is no name', () => {
  const labels = new SpanLabels(true).starting({ place: place(), body: body('boss') }, 'default', () => data('m'))
  const chat = labels.chat('qwen3', 'stop')
  assert.equal(labels.chat('qwen3', 'stop'), chat)
  assert.deepEqual(
    [labels.chat('qwen3', 'length'), labels.chat('large', 'stop'), labels.chat('a b', 'stop')].map(
      ({ name, shared }) => [name, named(shared, 'gen_ai.response.finish_reasons'), named(shared, 'mlflow.spanType')],
    ),
    [
      ['chat qwen3', ['length'], 'CHAT_MODEL'],
      ['chat large', ['stop'], 'CHAT_MODEL'],
      ['chat unknown', ['stop'], 'CHAT_MODEL'],
    ],
  )
  for (let many = 0; many < 200; many += 1) labels.chat(`model-${many}`, 'stop')
  assert.deepEqual(labels.chat('qwen3', 'stop'), chat)
  assert.equal(labels.tool('look_up'), labels.tool('look_up'))
  assert.deepEqual(
    ['look_up', 'ask me "why"'].map((name) => labels.tool(name).name),
    ['execute_tool look_up', 'execute_tool unknown'],
  )
  assert.deepEqual(
    [place(), place({ author: 'heir' }), place({ agentPath: 'user/heir' })].map((at) => labels.fits(at)),
    [true, false, false],
  )
})
