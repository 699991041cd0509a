/** Aliases that two agents share: who is warned, and who need not be. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { agentSchema } from '@witan/protocol/schemas'
import type { AgentData } from '@witan/protocol'
import { checkAliases } from './aliases.ts'
import { listersOf } from './graph.ts'
import { runWithoutPause } from '../../identity/pausable.ts'

const agent = (id: string, more: object = {}) => agentSchema.parse({ id, model: 'm', instructions: 'x', ...more })
const asks = (users: unknown, anonymizeUsers: string | null = 'worker') => ({ users, anonymizeUsers })
const [anna, bob] = [{ id: 'anna' }, { id: 'bob' }]
const root = agent('root', { subAgents: [{ agent: 'one' }, { agent: 'two' }] })

function found(id: string, ...all: readonly AgentData[]) {
  const agents = new Map([root, ...all].map((one) => [one.id, one]))
  return runWithoutPause(checkAliases(agents.get(id) as AgentData, { agents, listers: listersOf(agents) }))
}

describe('one prefix of aliases at two agents', () => {
  test('is reported at both if their lists differ, with the first alias that may be two people [C36] [Tb06]', () => {
    const agents = [agent('one', asks([anna, bob])), agent('two', asks([anna], 'Worker'))] as const
    assert.deepEqual(found('one', ...agents), [
      {
        code: 'ALIAS_SHARED',
        severity: 'warning',
        agent: 'one',
        path: 'anonymizeUsers',
        detail:
          '`worker-1` of `one` and `worker-1` of `two` may be two people: both count from 0, each its own `users`.',
        hint: 'Give `one` or `two` another prefix, or both the same people in the same order.',
      },
    ])
    assert.deepEqual(
      found('two', ...agents).map((finding) => finding.agent),
      ['two'],
    )
  })

  test('is reported for another order, for a role beside a person, and for participants beside a list', () => {
    for (const users of [[bob, anna], [{ role: 'buyer' }], 'participants'])
      assert.equal(found('one', agent('one', asks([anna, bob])), agent('two', asks(users))).length, 1)
  })

  test('is not reported for the same people, another prefix, no prefix, or agents that nothing connects', () => {
    const one = agent('one', asks([anna, bob]))
    const named = [{ ...anna, name: 'Anna' }, bob]
    for (const two of [asks(named), asks([bob], 'owner'), asks([bob], null)])
      assert.deepEqual(found('one', one, agent('two', two)), [])
    assert.deepEqual(found('one', one, agent('two'), agent('three', asks([bob]))), [])
    assert.deepEqual(found('one', agent('one', asks('participants')), agent('two', asks('participants'))), [])
  })

  test('is reported between peers, and over hand-overs', () => {
    const peer = agent('two', { ...asks([bob]), speaks: [{ protocol: 'p', role: 'initiator', peers: ['four'] }] })
    const four = agent('four', { ...asks([anna]), speaks: [{ protocol: 'p', role: 'responder' }] })
    const six = agent('six', { ...asks([anna]), transfers: [{ agent: 'two' }] })
    assert.deepEqual([found('two', peer, four).length, found('four', peer, four).length], [1, 1])
    assert.equal(found('two', peer, six).length, 1)
  })
})
