/** The graph of an agent: the steps of workflows by their number, and the sub-agents that are not waited for. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRuntime } from '@witan/core'
import { scriptedModel } from '@witan/core/testing'

test('an edge has the number of its step, whether its agent waits, and its style; a node says how it runs its steps', async () => {
  const runtime = createRuntime({ models: { 'play/model': scriptedModel(() => 'Yes.') } })
  const plain = (id: string) => ({ id, model: 'play/model', instructions: 'Work.' })
  const subAgents = [
    { agent: 'paper' },
    { agent: 'counter', blocking: 'never' as const },
    { agent: 'writer', style: 'agentTool' as const },
  ]
  await runtime.agents.saveAll([
    plain('writer'),
    plain('judge'),
    plain('counter'),
    { id: 'paper', workflow: { kind: 'sequence', agents: ['writer', { agent: 'judge' }, 'writer'] } },
    { ...plain('desk'), subAgents, users: [{ id: 'anna' }], transfers: [{ agent: 'judge' }] },
  ])
  const { nodes, edges } = await runtime.agents.graph('desk')
  assert.deepEqual(
    edges.map(({ from, to, step, blocking, style }) => [`${from} ${to}`, step, blocking, style]),
    [
      ['desk paper', null, 'always', 'delegate'],
      ['desk counter', null, 'never', 'delegate'],
      ['desk writer', null, 'always', 'agentTool'],
      ['desk judge', null, null, null],
      ['desk anna', null, null, null],
      ['paper writer', 1, null, null],
      ['paper judge', 2, null, null],
      ['paper writer', 3, null, null],
    ],
  )
  assert.equal(nodes.find(({ id }) => id === 'paper')?.workflow, 'sequence')
  assert.equal(nodes.find(({ id }) => id === 'desk')?.workflow, null)
  await runtime.close()
})
