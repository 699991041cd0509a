/** Who may call an agent and use its tools, as a check says it: the same as what is decided about a caller that is exactly that. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AgentData } from '@witan/protocol'
import { mayCall, mayUseTool } from '../../identity/agent-access.ts'
import type { Principal } from '../../identity/principal.ts'
import { runWithoutPause } from '../../identity/pausable.ts'
import { parseAgent } from '../parse.ts'
import { callersOf } from './callers.ts'

type Access = AgentData['access']

const agentWith = (access: Partial<Access>, more: object = {}): AgentData =>
  parseAgent({ id: 'docs', model: 'm/m', instructions: 'x', access: { call: null, ...access }, ...more })
const rowsOf = (agent: AgentData, most = 1_000) =>
  runWithoutPause(callersOf([agent], most)).map(({ caller, calls, tools }) => [
    caller.join(' + '),
    calls,
    tools.join(' '),
  ])

/** A caller for whom these names hold, and no other of the tests. */
function exactly(names: readonly string[]): Principal {
  const about = (mark: string) => names.find((name) => name.startsWith(mark))?.slice(mark.length) ?? 'x:nobody'
  const [who = 'user:nobody'] = names.filter((name) => !/^(?:for|from|role):/.test(name))
  const id = who === '@*' ? '@z@z.test' : who.replace('@*@', '@z@')
  const roles = names.flatMap((name) => (name.startsWith('role:') ? [name.slice(5)] : []))
  const onBehalfOf = [about('for:'), about('from:')]
  const evidence = [{ subject: id, onBehalfOf, issuer: 'https://z.test', digest: 'd', expiresAt: 0 }]
  return { database: 'default', id, roles, address: null, incoming: { evidence } } as unknown as Principal
}

const mail = 'mailto:a@a.test'
const entries: NonNullable<Access['call']> = [
  ...['user:anna', 'role:staff', 'key:k1', '@a@b.test', '@*@b.test', '@*', 'anonymous'],
  ...[
    ['user:anna', 'role:staff'],
    ['@*@b.test', `for:${mail}`],
    ['@a@b.test', `for:${mail}`, `from:${mail}`],
  ],
]

test('[C31] [M24] each row says what is decided about such a caller', () => {
  for (const call of [null, [], ...entries.map((entry) => [entry]), entries])
    for (const pay of [entries.slice(0, 1), entries.slice(3, 5), entries.slice(7), []]) {
      const agent = agentWith({ call, tools: { pay, note: entries } })
      for (const { caller, calls, tools } of runWithoutPause(callersOf([agent], 1_000))) {
        const who = exactly(caller)
        const words = JSON.stringify([call, pay, caller])
        assert.equal(calls, mayCall(agent.access, who), words)
        const usable = ['pay', 'note'].filter((name) => mayUseTool(agent.access, name, who))
        assert.deepEqual(tools, usable, words)
      }
    }
})

test('[C31] an agent with lists or an address has a row for each caller, and one without has none', () => {
  assert.deepEqual(rowsOf(agentWith({})), [])
  assert.deepEqual(rowsOf(agentWith({}, { address: '@docs@a.test' })), [['', true, '']])
  assert.deepEqual(rowsOf(agentWith({ call: [] })), [])
  assert.deepEqual(rowsOf(agentWith({ tools: { pay: ['role:staff'] } })), [
    ['', true, ''],
    ['role:staff', true, 'pay'],
  ])
  const call = ['@*@b.test', ['@*@b.test', `for:${mail}`], '@*@b.test']
  assert.deepEqual(rowsOf(agentWith({ call, tools: { pay: [[`for:${mail}`, '@*@b.test']] } })), [
    ['@*@b.test', true, ''],
    [`for:${mail} + @*@b.test`, true, 'pay'],
  ])
  assert.equal(rowsOf(agentWith({ call: entries }), 3).length, 3)
})
