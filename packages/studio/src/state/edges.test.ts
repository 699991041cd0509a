/** How the edges of a graph are drawn, by their kind. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { drawnEdges, edgeVerb, lineForms } from './edges.ts'
import { outlineOf } from './outline.ts'

const edge = (from: string, to: string, kind: string) => ({ from, to, kind, description: '' })

test('an edge says what it does, and a pair of agents has one line for each of its kinds', () => {
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
    drawnEdges({ edges: [...edges, edge('desk', 'anna', 'users'), edge('desk', 'moon', 'constructor')] }).map(
      ({ from, to, label, look, place, of }) => [from, to, label, look, `${place + 1} of ${of}`],
    ),
    [
      ['desk', 'clerk', '', 'asks', '1 of 1'],
      ['desk', 'billing', '', 'asks', '1 of 2'],
      ['desk', 'billing', 'hands over', 'transfers', '2 of 2'],
      ['billing', 'desk', 'hands over', 'transfers', '1 of 1'],
      ['paper', 'writer', 'steps 1, 3', 'workflow', '1 of 1'],
      ['paper', 'judge', 'step 2', 'workflow', '1 of 1'],
      ['old', 'server', 'step', 'workflow', '1 of 1'],
      ['desk', 'peer', 'writes to', 'speaks', '1 of 1'],
      ['desk', 'counter', '', 'background', '1 of 1'],
      ['desk', 'auditor', '', 'background', '1 of 1'],
      ['desk', '@depot@far.test', 'calls', 'remotes', '1 of 1'],
      ['desk', 'waited', '', 'asks', '1 of 1'],
      ['desk', 'both', '', 'background', '1 of 2'],
      ['desk', 'both', 'writes to', 'speaks', '2 of 2'],
      ['desk', 'anna', 'may ask', 'users', '1 of 1'],
      ['desk', 'moon', 'constructor', 'other', '1 of 1'],
    ],
  )
  const forms = Object.values(lineForms).map(({ width, dash }) => `${width} ${dash}`)
  assert.equal(new Set(forms).size, forms.length, 'lines are told apart by their pattern')
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
