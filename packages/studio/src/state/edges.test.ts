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
    edge('paper', 'writer', 'workflow'),
    edge('paper', 'writer', 'workflow'),
    edge('desk', 'peer', 'speaks'),
  ]
  assert.deepEqual(
    drawnEdges({ edges }).map(({ from, to, label, isDashed }) => [from, to, label, isDashed]),
    [
      ['desk', 'clerk', '', false],
      ['desk', 'billing', 'asks, hands over', false],
      ['billing', 'desk', 'hands over', true],
      ['paper', 'writer', 'step', false],
      ['desk', 'peer', 'writes to', false],
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
