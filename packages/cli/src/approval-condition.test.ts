/** The condition of an approval in words, and where a person reads it. */
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { conditionPhrase } from './approval-condition.ts'
import { sitting } from './testing/person.ts'
import { askConfig, witan } from './testing/witan.ts'

test('a simple condition is shown in words, any other as it is written', () => {
  const price = { price: { type: 'number', minimum: 500, exclusiveMaximum: 900 } }
  assert.equal(conditionPhrase({ properties: price, required: ['price'] }), 'price ≥ 500 and price < 900')
  assert.equal(conditionPhrase({ type: 'object', properties: { to: { const: 'Bob' } } }), '(to = "Bob", or no to)')
  assert.equal(conditionPhrase({ required: ['to', 'by'] }), 'to is given and by is given')
  assert.equal(
    conditionPhrase({ properties: { to: { enum: ['a', 'b'] } }, required: ['to'] }),
    'to is one of ["a", "b"]',
  )
  for (const schema of [
    {},
    { not: {} },
    { properties: { a: { items: {} } } },
    { properties: { a: {} } },
    { type: 'array' },
  ])
    assert.doesNotMatch(conditionPhrase(schema), /given|≥/)
  assert.equal(conditionPhrase({ not: { required: ['a'] } }), '{ not: { required: ["a"] } }')
})

test('a person who is asked for an approval reads on what condition the call waits', async () => {
  const { screen } = await sitting(['run', 'asker', 'spend', '--config', askConfig], ['y'])
  assert.match(screen, /wants to call spend.*\n {2}amount {2}700\n {2}waits if amount ≥ 500\n/)
  const every = await sitting(['run', 'asker', 'pay', '--config', askConfig], ['y'])
  assert.doesNotMatch(every.screen, /waits if/)
})

test('witan agents apply shows what changes of a condition, approval by approval', async (context) => {
  const folder = await mkdtemp(join(tmpdir(), 'witan-approvals-'))
  context.after(() => rm(folder, { recursive: true }))
  const environment = { WITAN_STORE_URL: `file:${join(folder, 'witan.db')}` }
  const apply = async (approvals: readonly unknown[]) => {
    const parametersSchema = { type: 'object', properties: { amount: { type: 'number' } } }
    const actions = ['pay', 'refund'].map((name) => ({ name, description: 'Does it.', parametersSchema }))
    const agent = { id: 'buyer', model: 'scripted/asker', instructions: 'Buy.', actions, approvals }
    await writeFile(join(folder, 'buyer.json'), JSON.stringify(agent))
    const words = ['agents', 'apply', '-f', 'buyer.json', '--config', askConfig]
    const { code, out, err } = await witan(words, { folder, environment })
    assert.equal(code, 0, err)
    return out
  }
  const over = (minimum: number) => ({
    tool: 'pay',
    when: { properties: { amount: { minimum } }, required: ['amount'] },
  })
  assert.match(await apply(['refund']), /\n {4}approvals {2}\["refund"\]\n/)
  assert.match(await apply(['refund', over(500)]), /\n {4}approvals\.pay {2}\+ \{ tool: "pay", when: \{.*500/)
  const changed = await apply(['refund', over(600)])
  assert.match(changed, /~ buyer {2}1 change\n {4}approvals\.pay\.when\.properties\.amount\.minimum {2}500 → 600\n/)
  assert.match(await apply([over(600)]), /\n {4}approvals\.refund {2}- "refund"\n/)
})
