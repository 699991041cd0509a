/** Tests of the differences between agents, and of agents as text. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parseAgent } from '@witan/core'
import fc from 'fast-check'
import { holds } from '../../../../test/support/seeds.ts'
import { toYaml } from '../commands/export.ts'
import { changesBetween } from './diff.ts'
import { agentsIn } from './source.ts'

describe('the differences of two agents', () => {
  test('lists of named things are compared by name, others as a whole; an order is a difference', () => {
    const edges = (...agents: string[]) => agents.map((agent) => ({ agent, map: {} }))
    assert.deepEqual(changesBetween({ a: edges('x', 'y') }, { a: edges('x', 'y') }), [])
    assert.deepEqual(changesBetween({ a: edges('x', 'y') }, { a: edges('y', 'x') }), [
      { path: 'a (order)', before: ['x', 'y'], after: ['y', 'x'] },
    ])
    assert.deepEqual(changesBetween({ a: edges('x', 'y') }, { a: edges('y', 'z') }), [
      { path: 'a.z', before: undefined, after: { agent: 'z', map: {} } },
      { path: 'a.x', before: { agent: 'x', map: {} }, after: undefined },
    ])
    assert.deepEqual(changesBetween({ t: ['a'] }, { t: ['b'] }), [{ path: 't', before: ['a'], after: ['b'] }])
    assert.deepEqual(changesBetween({ o: { x: 1, y: 2 } }, { o: { y: 2, x: 1 } }), [])
    assert.deepEqual(changesBetween({ o: null }, { o: { x: 1 } }), [{ path: 'o', before: null, after: { x: 1 } }])
  })

  test('a number that JavaScript would change is its digits, and any other is itself', () => {
    const text = `a: [9007199254740993, -9007199254740993, 1e400, .inf, 0x20000000000001]
b: [7, -7, 0x1F, 0o17, +12, 1.5, 1e3, 9007199254740991, 9007199254740993.5, -0]
7: 1`
    const long = ['9007199254740993', '-9007199254740993', '1e400', '.inf', '9007199254740993']
    const short = [7, -7, 31, 15, 12, 1.5, 1000, 9007199254740991, 9007199254740994, 0]
    assert.deepEqual(agentsIn(text, 'a.yaml')[0]?.value, { a: long, b: short, 7: 1 })
    assert.deepEqual(agentsIn('[{"a":9007199254740993}]', 'a.json')[0]?.value, { a: '9007199254740993' })
  })

  test('[P23] any agent is the same after YAML and back', async (context) => {
    const words = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom(
        'yes',
        'no',
        'null',
        '~',
        '1.0',
        '0x1f',
        '2020-01-01',
        '- a',
        'a: b',
        '# x',
        '  a\n b \n\n',
        '|',
        '\t',
      ),
    )
    const plain = fc.record({
      description: words,
      instructions: words,
      temperature: fc.option(fc.constantFrom(0, 0.1, 1, 1.5)),
      outputSample: fc.dictionary(words, fc.jsonValue({ maxDepth: 2 })),
      actions: fc.uniqueArray(fc.record({ name: fc.constantFrom('A', 'B', 'C'), description: words }), {
        selector: ({ name }) => name,
      }),
      access: fc.record({ call: fc.option(fc.constant(['user:anna'])) }),
    })
    await holds(
      context,
      fc.property(fc.array(plain, { minLength: 1, maxLength: 3 }), (drafts) => {
        const agents = drafts.map((draft, index) => parseAgent({ ...draft, id: `a${index}`, model: 'm' }))
        const stored = JSON.parse(JSON.stringify(agents)) as unknown[]
        const back = agentsIn(toYaml({ agents: stored }), 'x.yaml').map(({ value }) => value)
        assert.deepEqual(changesBetween(stored, back), [])
        assert.equal(JSON.stringify(back), JSON.stringify(stored))
        const asJson = agentsIn(JSON.stringify({ agents: stored }, null, 2), 'x.json').map(({ value }) => value)
        assert.equal(JSON.stringify(asJson), JSON.stringify(stored))
      }),
      100,
    )
  })
})
