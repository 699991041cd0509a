/** How many schemas the queries and actions of an agent may have. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseAgent } from '../parse.ts'
import { checkQueries } from './queries.ts'

const properties = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`p${at}`, true]))
const action = (name: string, more: object) => ({
  name,
  description: 'Acts.',
  parametersSchema: { type: 'object', ...more },
})
const findings = (...actions: readonly object[]) =>
  checkQueries(parseAgent({ id: 'a', model: 'm/m', instructions: 'x', actions }), {
    querySources: new Map(),
  })

const refused: Readonly<Record<string, readonly object[]>> = {
  '5,000 properties each': ['a', 'b'].map((name) => action(name, { properties: properties(5_000) })),
  'alternatives in one': [action('a', {}), action('b', { anyOf: Array.from({ length: 10_000 }, () => ({})) })],
  'definitions in one': [action('a', {}), action('b', { $defs: properties(10_000) })],
}

for (const [what, actions] of Object.entries(refused))
  test(`actions with more than 10,000 schemas in all, ${what}, are refused where it is too much`, async () => {
    const [first, ...more] = await findings(...actions)
    assert.deepEqual([first?.code, first?.path, more], ['AGENT_INVALID', 'actions.1.parametersSchema', []])
    assert.match(first?.detail ?? '', /queries and actions have at most 10000 schemas in all/)
    assert.match(first?.hint ?? '', /make several agents/)
  })

test('actions with 10,000 schemas in all are taken, for each agent anew', async () => {
  for (let times = 0; times < 2; times += 1)
    assert.deepEqual(await findings(action('a', { properties: properties(9_998) }), action('b', {})), [])
})
