/** An edge whose target is no agent here: what is drawn, checked, described and offered knows it, and nobody looks for an agent of its name. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { WitanError } from '@witan/protocol'
import { agent, createStage } from '../support/stage.ts'

const address = '@docs@b.test'
const card = 'https://travel.test/card.json'
const remotes = [
  { name: 'docs', address, description: 'Knows the documents.' },
  { name: 'travel', card, description: 'Knows trains.', blocking: 'never' as const },
]

function staged() {
  return createStage({
    agents: [
      { id: 'root', subAgents: [{ agent: 'desk' }] },
      { id: 'desk', description: 'Asks elsewhere.', remotes },
    ],
    plays: { root: ['done'] },
    options: { domains: { 'a.test': 'default' } },
  })
}

test('the graph has a node for it, and an edge that says whether it is waited for', async () => {
  const { runtime } = staged()
  const { nodes, edges } = await runtime.agents.graph('root')
  assert.deepEqual(
    nodes.map(({ id, kind }) => `${kind} ${id}`),
    ['agent root', 'agent desk', `remote ${address}`, `remote ${card}`],
  )
  assert.deepEqual(
    edges.map(({ from, to, kind, blocking }) => [from, to, kind, blocking]),
    [
      ['root', 'desk', 'subAgents', 'always'],
      ['desk', address, 'remotes', 'always'],
      ['desk', card, 'remotes', 'never'],
    ],
  )
  await runtime.close()
})

test('a check has nothing against it, and neither matrix nor handlers look for an agent of its name', async () => {
  const { runtime } = staged()
  const { errors, warnings, matrix, handlers } = await runtime.agents.check()
  assert.deepEqual([errors, warnings], [[], []])
  assert.equal(/docs|travel/.test(JSON.stringify([matrix, handlers])), false)
  await runtime.close()
})

test('a caller’s model reads of a delegate that it can ask there', async () => {
  const stage = staged()
  await stage.ask('root', 'hello')
  const [told] = stage.requests[0]?.tools ?? []
  assert.match(String(told?.description), /docs/)
  assert.match(String(told?.description), /travel/)
  await stage.runtime.close()
})

test('its name is that of a tool: nothing else of the agent may have it', async () => {
  const { runtime } = staged()
  for (const more of [
    { subAgents: [{ agent: 'docs' }] },
    { actions: [{ name: 'docs', description: 'x' }] },
    { remotes: [...remotes, { name: 'docs', address: '@other@b.test', description: '' }] },
  ]) {
    await runtime.agents.save(agent('docs'))
    const refused = await runtime.agents.save(agent('third', { remotes, ...more })).then(
      () => null,
      (error: WitanError) => error.code,
    )
    assert.equal(refused, 'NAME_TAKEN', JSON.stringify(more))
  }
  await runtime.close()
})
