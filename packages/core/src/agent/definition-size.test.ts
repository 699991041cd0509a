/** What is measured before a schema reads a definition; and what a definition that breaks every rule is answered with. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { frozen } from '../identity/frozen.ts'
import { runWithoutPause } from '../identity/pausable.ts'
import { definitionExcess, maxDefinitionValues } from './definition-size.ts'
import { inspectAgent } from './inspect.ts'
import { parseAgent } from './parse.ts'
import { parseProtocol, protocolProblems } from './protocol/parse-protocol.ts'

const free = { outputSchema: true, actions: ['sample'] } as const
const many = (count: number) => new Array<number>(count).fill(0)
const named = (count: number) => Object.fromEntries(many(count).map((_, at) => [`k${at}`, 0]))
const nested = (levels: number): unknown => (levels === 0 ? 0 : [nested(levels - 1)])

const cases: readonly (readonly [what: string, input: unknown, excess: string | null])[] = [
  ['nothing', undefined, null],
  ['a text', 'x', null],
  ['as many values as may be', { tools: many(maxDefinitionValues - 1) }, null],
  ['one value more', { tools: many(maxDefinitionValues) }, 'values'],
  ['values far inside', { access: { tools: { a: many(maxDefinitionValues) } } }, 'values'],
  ['a free key at the top', { outputSchema: { enum: many(50_000) } }, null],
  ['a free key of an item', { actions: [{ sample: many(50_000) }] }, null],
  ['the key of an item at the top', { sample: many(50_000) }, 'values'],
  ['the free key of another list', { queries: [{ sample: many(50_000) }] }, 'values'],
  ['a free key too deep', { actions: [{ map: { sample: many(50_000) } }] }, 'values'],
  ['64 levels', { outputSchema: nested(63) }, null],
  ['65 levels in a free key', { outputSchema: nested(64) }, 'depth'],
  ['65 levels elsewhere', { tools: nested(64) }, 'depth'],
]

for (const [what, input, excess] of cases) {
  test(`a definition with ${what}: ${excess ?? 'is read'}`, () => {
    assert.equal(runWithoutPause(definitionExcess(input, free)), excess)
  })
}

const base = { id: 'saved', model: 'play/root', instructions: 'You do it.' }

test('an agent with too many values is refused with what to do, and so is a protocol', () => {
  const agent = { ...base, access: { call: many(20_000) } }
  assert.throws(() => parseAgent(agent), {
    code: 'AGENT_INVALID',
    message: /more than 12000 values beside its schemas/,
  })
  const look = inspectAgent(agent)
  assert.deepEqual([look.problems.length, look.problems[0]?.code, look.agent], [1, 'AGENT_INVALID', null])
  const order = { start: 'a', final: ['b'], states: named(20_000) }
  const [first] = protocolProblems({ name: 'saved', messages: [{ name: 'ask', from: 'initiator' }], order })
  assert.match(first?.message ?? '', /more than 12000 values beside the schemas of its messages/)
})

test('an agent with too many values in one list is refused, and a schema of it may have as many', () => {
  const problemsOf = (more: object) => inspectAgent({ ...base, ...more }).problems.map(({ message }) => message)
  assert.match(problemsOf({ providerOptions: named(5_001) })[0] ?? '', /or 5000 in one list/)
  assert.deepEqual(problemsOf({ outputSchema: { type: 'object', properties: {}, enum: many(6_000) } }), [])
})

test('of an agent that is too deep nothing else is examined, and nothing throws', () => {
  const { problems, agent } = inspectAgent({ ...base, outputSchema: nested(100) })
  assert.deepEqual([problems.map(({ code }) => code), agent], [['JSON_TOO_DEEP'], null])
})

const malformed: readonly (readonly [what: string, more: object])[] = [
  ['unknown keys', named(4_000)],
  ['entries of a list', { subAgents: many(200).map(() => ({})) }],
  ['names', { users: many(200).map((_, at) => ({ id: `a${at}`, name: '<' })) }],
]

for (const [what, more] of malformed) {
  test(`at most fifty malformed ${what} are reported, and the rest of the agent is read`, () => {
    assert.equal(inspectAgent({ ...base, ...more }).problems.length, 50)
  })
}

test('what JSON cannot hold is refused with its place, by a save and by a check', () => {
  const agent = { ...base, outputSample: { list: [{ deep: 1n }] } }
  const refused = { code: 'AGENT_INVALID', path: 'outputSample.list.0.deep', message: /is not JSON: .*BigInt/ }
  assert.throws(() => parseAgent(agent), refused)
  const { problems, agent: read } = inspectAgent(agent)
  assert.deepEqual([problems.map(({ path }) => path), read], [['outputSample.list.0.deep'], null])
  const messages = [{ name: 'ask', from: 'initiator', schema: { type: 'object', properties: { a: { default: 1n } } } }]
  assert.throws(() => parseProtocol({ name: 'saved', messages }), { code: 'PROTOCOL_INVALID' })
  assert.equal(protocolProblems({ name: 'saved', messages })[0]?.path, 'messages.0.schema.properties.a.default')
})

test('a schema that an author keeps can be changed, and changes no agent', () => {
  const schema = { type: 'object', properties: { a: { type: 'string' } } }
  const agent = parseAgent({ ...base, outputSchema: schema })
  schema.properties.a.type = 'number'
  assert.deepEqual(agent.outputSchema, { type: 'object', properties: { a: { type: 'string' } } })
})

test('what is read in pieces is frozen whole', () => {
  const agent = parseAgent({ ...base, outputSample: { list: [{ deep: 1 }] }, tools: ['a'] })
  const walk = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    assert.ok(Object.isFrozen(value))
    for (const inner of Object.values(value)) walk(inner)
  }
  walk(agent)
  assert.equal(frozen(agent), agent)
})
