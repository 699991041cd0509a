/** How the edges of a graph are drawn, by their kind. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { drawnEdges, edgeVerb } from './edges.ts'
import { outlineOf } from './outline.ts'

const edge = (from: string, to: string, kind: string) => ({ from, to, kind, description: '' })

test('an edge says what it does, and a pair of agents has one line for all its kinds', () => {
  const edges = [
    edge('desk', 'clerk', 'subAgents'),
    edge('desk', 'billing', 'subAgents'),
    edge('desk', 'billing', 'transfers'),
    edge('billing', 'desk', 'transfers'),
    { ...edge('paper', 'writer', 'workflow'), step: 1 },
    { ...edge('paper', 'judge', 'workflow'), step: 2 },
    { ...edge('paper', 'writer', 'workflow'), step: 3 },
    edge('old', 'server', 'workflow'),
    edge('desk', 'peer', 'speaks'),
    { ...edge('desk', 'counter', 'subAgents'), blocking: 'never' },
    { ...edge('desk', 'auditor', 'subAgents'), blocking: 'model' },
    { ...edge('desk', '@depot@far.test', 'remotes'), blocking: 'never' },
    { ...edge('desk', 'waited', 'subAgents'), blocking: 'always' },
    { ...edge('desk', 'both', 'subAgents'), blocking: 'never' },
    edge('desk', 'both', 'speaks'),
  ]
  assert.deepEqual(
    drawnEdges({ edges }).map(({ from, to, label, look }) => [from, to, label, look]),
    [
      ['desk', 'clerk', '', 'waits'],
      ['desk', 'billing', 'asks, hands over', 'waits'],
      ['billing', 'desk', 'hands over', 'transfer'],
      ['paper', 'writer', 'steps 1, 3', 'waits'],
      ['paper', 'judge', 'step 2', 'waits'],
      ['old', 'server', 'step', 'waits'],
      ['desk', 'peer', 'writes to', 'waits'],
      ['desk', 'counter', '', 'background'],
      ['desk', 'auditor', '', 'background'],
      ['desk', '@depot@far.test', 'calls', 'background'],
      ['desk', 'waited', '', 'waits'],
      ['desk', 'both', 'asks, writes to', 'waits'],
    ],
  )
  assert.equal(edgeVerb('constructor'), 'constructor')
})

test('a cycle of hand-overs is listed once', () => {
  const nodes = ['desk', 'billing'].map((id) => ({ id, name: id, kind: 'agent' }))
  const edges = [edge('desk', 'billing', 'transfers'), edge('billing', 'desk', 'transfers')]
  assert.deepEqual(
    outlineOf({ nodes, edges, hotSpots: [] }, 'desk').map(({ id, kind, isRepeat }) => [id, kind, isRepeat]),
    [
      ['desk', null, false],
      ['billing', 'transfers', false],
      ['desk', 'transfers', true],
    ],
  )
})
