import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AgentData, Parameter } from '@witan/protocol'
import { noEdges } from '@witan/protocol/edges'
import { givenParameters, parameterFields } from './parameters.ts'
import { lostWithout } from './unreachable.ts'

const parameter = (name: string, more: Partial<Parameter> = {}): Parameter => ({
  name,
  type: 'string',
  description: '',
  sendToModel: true,
  policy: null,
  secret: false,
  ...more,
})

type Maps = Readonly<Record<string, Readonly<Record<string, string | null>>>>

/** `edges`: the map of the edge to each sub-agent. */
function agent(id: string, parameters: Parameter[], edges: Maps = {}) {
  const subAgents = Object.entries(edges).map(([to, map]) => ({ agent: to, map })) as AgentData['subAgents']
  return { id, parameters, ...noEdges, subAgents, disabled: false }
}

/** Each kind of edge to one agent, with its map. */
const edgesTo = (to: string, map: Maps[string]): Readonly<Record<string, object>> => ({
  subAgents: { subAgents: [{ agent: to, map }] },
  transfers: { transfers: [{ agent: to, map }] },
  workflow: { workflow: { agents: [{ agent: to, map }] } },
  speaks: { speaks: [{ protocol: 'ask', role: 'initiator', peers: [to], map }] },
})

const trusted = (name: string) => parameter(name, { sendToModel: false, policy: 'forbidModelGeneration' })

test('the form asks once for a name that several agents declare, and says who reads it', () => {
  const fields = parameterFields([
    agent('root', [parameter('userId', { sendToModel: false }), parameter('country')], { child: {} }),
    agent('child', [parameter('userId', { policy: 'forbidModelGeneration' }), parameter('team')], { root: {} }),
  ])
  assert.deepEqual(
    fields.map((field) => [field.name, field.required, field.trusted, field.alwaysHidden, field.usedBy.join()]),
    [
      ['userId', false, true, false, 'root,child'],
      ['country', true, false, false, 'root'],
      ['team', false, false, false, 'child'],
    ],
  )
})

test('a value is given bare, or with sendToModel false where it is to be hidden', () => {
  const fields = parameterFields([agent('root', [parameter('a'), parameter('b')])])
  const { given } = givenParameters(fields, { a: { text: 'x', hide: false }, b: { text: 'y', hide: true } })
  assert.deepEqual(given, { a: 'x', b: { value: 'y', sendToModel: false } })
})

test('every type is read as itself, and what does not fit is a problem of its line', () => {
  const read = (type: Parameter['type'], text: string) => {
    const fields = parameterFields([agent('root', [parameter('p', { type })])])
    const { given, problems } = givenParameters(fields, { p: { text, hide: false } })
    return 'p' in problems ? 'problem' : given.p
  }
  assert.equal(read('string', '7'), '7')
  assert.equal(read('number', '7.5'), 7.5)
  assert.equal(read('number', 'seven'), 'problem')
  for (const number of ['9007199254740993', '-1e400']) {
    assert.equal(read('number', number), 'problem')
    assert.equal(read('number[]', `[1,${number}]`), 'problem')
    assert.equal(read('any', number), number)
  }
  assert.equal(read('boolean', 'false'), false)
  assert.equal(read('boolean', 'no'), 'problem')
  assert.deepEqual(read('string[]', '["a","b"]'), ['a', 'b'])
  assert.equal(read('number[]', '["a"]'), 'problem')
  assert.equal(read('any', '{"a":1}'), 'problem')
  assert.equal(read('any', 'plain'), 'plain')
  assert.equal(read('any', '[1]')?.toString(), '1')
})

test('an empty line is left out, and is a problem only where the root needs it', () => {
  const fields = parameterFields([agent('root', [parameter('a')], { child: {} }), agent('child', [parameter('b')])])
  const { given, problems } = givenParameters(fields, {})
  assert.deepEqual(given, {})
  assert.deepEqual(Object.keys(problems), ['a'])
})

test('the form asks under the name that an edge gives, and for nothing that an edge cuts off', () => {
  const fields = parameterFields([
    agent('root', [], { child: { id: 'customerId', note: null } }),
    agent('child', [trusted('id'), parameter('note')]),
  ])
  assert.deepEqual(
    fields.map(({ name, trusted: isTrusted, usedBy }) => [name, isTrusted, usedBy]),
    [['customerId', true, ['child']]],
  )
})

test('without a trusted value the agents that need it are lost, and those behind them', () => {
  const agents = [
    agent('root', [parameter('country')], { profile: {}, policy: {} }),
    agent('profile', [trusted('userId')], { info: {} }),
    agent('info', [trusted('userId')]),
    agent('policy', [parameter('country'), parameter('userId')], {}),
  ]
  const lost = (names: string[]) => Object.fromEntries(lostWithout(agents, 'root', names))
  assert.deepEqual(lost(['userId']), { userId: ['profile', 'info'] })
  assert.deepEqual(lost(['country']), {}, 'a model may make it')
  assert.deepEqual(lost([]), {})
  assert.deepEqual(Object.fromEntries(lostWithout([], 'root', ['userId'])), {})
})

test('an agent with another way to it, or another name for the value, is not lost', () => {
  const agents = [
    agent('root', [], { a: {}, b: {} }),
    agent('a', [trusted('x')], { c: {} }),
    agent('b', [], { c: { x: 'y' } }),
    agent('c', [trusted('x')]),
    agent('off', [trusted('x')]),
  ]
  const lost = Object.fromEntries(lostWithout(agents, 'root', ['x', 'y']))
  assert.deepEqual(lost, { x: ['a'] })
  const cycle = [agent('root', [], { a: {} }), agent('a', [trusted('x')], { root: {}, a: {} })]
  assert.deepEqual(Object.fromEntries(lostWithout(cycle, 'root', ['x'])), { x: ['a'] })
  const handed = [agent('root', [trusted('me')], { a: { x: 'me' } }), agent('a', [trusted('x')])]
  assert.deepEqual(Object.fromEntries(lostWithout(handed, 'root', ['me', 'x'])), { me: ['a'] })
  const disabled = [agent('root', [], { a: {} }), { ...agent('a', [trusted('x')]), disabled: true }]
  assert.deepEqual(Object.fromEntries(lostWithout(disabled, 'root', ['x'])), {})
})

test('the form and the lost agents follow edges of every kind', () => {
  for (const [kind, edges] of Object.entries(edgesTo('child', { id: 'customerId' }))) {
    const agents = [{ ...agent('root', []), ...edges }, agent('child', [trusted('id')])]
    assert.deepEqual(
      parameterFields(agents).map(({ name, usedBy }) => [name, usedBy]),
      [['customerId', ['child']]],
      kind,
    )
    assert.deepEqual(Object.fromEntries(lostWithout(agents, 'root', ['customerId'])), { customerId: ['child'] }, kind)
  }
})
