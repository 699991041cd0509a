/** The tools by which an agent writes to its peers, as the page of the agent lists them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { peerToolsOf } from './peer-tools.ts'

const protocols = [
  {
    name: 'stock',
    purpose: 'What is there.',
    messages: [
      { name: 'ask', from: 'initiator', schema: { type: 'object' } },
      { name: 'clarify', from: 'responder', schema: { type: 'object' } },
    ],
  },
] as never
const speaks = (role: string, peers: readonly string[] | null) => [{ protocol: 'stock', role, peers }] as never
const agents = [
  { id: 'buyer', speaks: speaks('initiator', ['north', 'south']) },
  { id: 'north', speaks: speaks('responder', null) },
  { id: 'south', speaks: speaks('responder', ['somebody']) },
]
const namesOf = (at: number) =>
  peerToolsOf(agents[at] as (typeof agents)[0], { protocols, agents }).map(({ name, marks }) => [name, ...marks])

test('[Tb25] an initiator has a tool for each peer and message, a responder for each initiator that lists it', () => {
  assert.deepEqual(namesOf(0), [['north_ask'], ['south_ask']])
  assert.deepEqual(namesOf(1), [['buyer_clarify', 'after buyer has written']])
  assert.deepEqual(namesOf(2), [], 'it answers somebody else only')
  assert.deepEqual(peerToolsOf({ id: 'x', speaks: speaks('initiator', ['y']) }, { protocols: [], agents: [] }), [])
})
