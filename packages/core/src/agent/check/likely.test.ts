/** The others that an agent may clash with are found alike, whether a set is asked about once or often, and a large set is looked through a few times at most. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AgentData } from '@witan/protocol'
import { agentSchema } from '@witan/protocol/schemas'
import { checkAddresses } from './addresses.ts'
import { speakersIn, withPeople } from './likely.ts'

const agent = (id: string, more: object = {}): AgentData =>
  agentSchema.parse({ id, model: 'm', instructions: 'x', ...more })
const others: readonly AgentData[] = [
  agent('plain'),
  agent('named', { name: 'Docs' }),
  agent('addressed', { address: '@docs@a.test' }),
  agent('knowing', { users: [{ id: 'anna' }] }),
  agent('hiding', { users: 'participants', anonymizeUsers: 'person' }),
]

/** A set that counts how often it is looked through. */
function counted(agents: readonly AgentData[]) {
  const set = new Map(agents.map((one) => [one.id, one]))
  let looks = 0
  const values = set.values.bind(set)
  set.values = () => {
    looks += 1
    return values()
  }
  return { set, looks: () => looks }
}

test('the first clash of an address is the same, however often a set was asked about', () => {
  for (const given of [
    agent('docs'),
    agent('other', { address: '@docs@a.test' }),
    agent('free', { address: '@named@a.test' }),
    agent('none', { address: '@none@a.test' }),
  ]) {
    const { set } = counted([...others, given])
    const all = Array.from({ length: 20 }, () => checkAddresses(given, set).map(({ detail }) => detail))
    for (const one of all) assert.deepEqual(one, all[0])
    assert.equal(all[0]?.length, given.id === 'none' ? 0 : 1, given.id)
  }
})

test('a set that is asked about a thousand times is looked through a few times', () => {
  const { set, looks } = counted(others)
  for (let time = 0; time < 1_000; time += 1) {
    checkAddresses(others[time % others.length] as AgentData, set)
    withPeople(set)
    speakersIn(set)
  }
  assert.ok(looks() < 50, `${looks()} times`)
  assert.deepEqual(
    withPeople(set).map(({ id }) => id),
    ['knowing', 'hiding'],
  )
  assert.deepEqual(speakersIn(set), [])
})
