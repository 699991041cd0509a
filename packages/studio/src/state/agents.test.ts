/** The order of agents, their signs, and what the line of a conversation says. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { noEdges } from '@witan/protocol/edges'
import { arrangeAgents, inOrder, lookOf, looksOf } from './agents.ts'
import { latestFirst, lineState } from './line-state.ts'

function agent(id: string, subAgents: readonly string[] = [], name?: string) {
  const edges = subAgents.map((to) => ({ agent: to }))
  return { id, ...noEdges, subAgents: edges as never, ...(name === undefined ? {} : { name }) }
}

test('agents that no other lists come first, each group by name', () => {
  const agents = [
    agent('a', [], 'Zebra'),
    agent('b', ['a', 'c'], 'Mole'),
    agent('c', ['c'], 'Élan'),
    agent('d', ['d'], 'ant'),
  ]
  const { roots, others } = arrangeAgents(agents)
  assert.deepEqual(
    [roots.map(({ id }) => id), others.map(({ id }) => id)],
    [
      ['d', 'b'],
      ['c', 'a'],
    ],
  )
  assert.deepEqual(inOrder(arrangeAgents([agent('x', ['y']), agent('y', ['x'])])).length, 2, 'a cycle has no root')
  assert.deepEqual(inOrder(arrangeAgents([])), [])
})

test('an agent that another hands over to, runs as a step or writes to is listed by it', () => {
  const transfers = [{ agent: 'b' }] as never
  const workflow = { agents: ['c', { agent: 'd' }] } as never
  const speaks = [{ role: 'initiator', peers: ['e'] }] as never
  const answers = [{ role: 'responder', peers: ['a'] }] as never
  const agents = [{ ...agent('a'), transfers, workflow, speaks }, agent('b'), agent('c'), agent('d')]
  assert.deepEqual(
    arrangeAgents([...agents, { ...agent('e'), speaks: answers }]).roots.map(({ id }) => id),
    ['a'],
  )
})

test('a sign is a letter or a digit, and its colour depends on the ids alone', () => {
  assert.deepEqual(lookOf('x', 'Élan').letter, 'É')
  assert.equal(lookOf('x', '“quoted”').letter, 'Q')
  assert.equal(lookOf('x', '😀').letter, 'X')
  assert.equal(lookOf('--', '').letter, '?')
  assert.equal(looksOf([agent('a-clerk', [], 'Clerk')]).get('a-clerk')?.hue, lookOf('a-clerk', 'Renamed').hue)
  const ids = Array.from({ length: 30 }, (_, index) => agent(`agent-${index}`))
  const alone = looksOf(ids.slice(0, 1)).get('agent-0')
  assert.deepEqual(looksOf(ids).get('agent-0'), alone, 'whoever is added, an agent keeps its colour')
  assert.deepEqual(looksOf(ids.toReversed()).get('agent-0'), alone)
  const hues = ids.map(({ id }) => lookOf(id).hue)
  assert.ok(new Set(hues).size >= 18, 'ids that differ in a digit have distant colours')
})

test('a line says what is the reader’s to do before all else', () => {
  const run = (status: 'failed' | 'completed' | 'running') => ({ lastRun: { status } as never })
  assert.equal(lineState({ status: 'idle', ...run('failed') }, 1)?.words, 'waits for you')
  assert.equal(lineState({ status: 'waiting', ...run('running') }, 0)?.words, 'waits for somebody')
  assert.equal(lineState({ status: 'running', ...run('running') }, 0)?.state, 'running')
  assert.equal(lineState({ status: 'idle', ...run('failed') }, 0)?.state, 'failed')
  assert.equal(lineState({ status: 'idle', ...run('completed') }, 0), null)
  assert.equal(lineState({ status: 'idle', lastRun: null }, 0), null)
})

test('conversations stand by when something was said in them last; those of one moment keep their order', () => {
  const line = (id: string, lastMessageAt: string) => ({ id, lastMessageAt })
  const lines = [
    line('begun last', '2026-11-22T10:00:00.000Z'),
    line('same moment', '2026-11-22T10:00:00.000Z'),
    line('gone on', '2026-11-22T10:20:00.000Z'),
  ]
  assert.deepEqual(
    latestFirst(lines).map(({ id }) => id),
    ['gone on', 'begun last', 'same moment'],
  )
})
