/** What the front desk remembers of its employee: told something, asked a week later, corrected, erased. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createRuntime, memoryStore, type Runtime } from '@witan/core'
import { fakeClock } from '../../test/support/clock.ts'

const week = 7 * 24 * 3_600_000
const clock = fakeClock()
let runtime: Runtime
before(async () => {
  process.env['NORTHWIND_PACE_MS'] = '0'
  const { default: config } = await import('./witan.config.ts')
  const { agents, sources } = config
  runtime = createRuntime({ agents, sources, clock, store: memoryStore({ now: clock.now }) } as never)
})
after(() => runtime.close())

const janet = { userId: { value: 'employees/3', sendToModel: false } }
/** Each message is a conversation of its own. */
const say = async (words: string) => {
  const { text, status } = await runtime.conversation('company-assistant-agent', { parameters: janet }).run(words)
  assert.equal(status, 'completed')
  return text
}
const blocks = async () =>
  (await runtime.memory.list()).items.map(({ key, text, revision, updatedAt }) => ({ key, text, revision, updatedAt }))

test('[F39] told something, asked a week later, corrected, erased', async () => {
  assert.match(await say('Who are our top customers?'), /^Our top customers:\n- QUICK-Stop/)
  assert.equal(await say('What do you remember?'), 'I remember nothing about you.')
  assert.equal(await say('Remember that my region is Germany.'), 'I shall remember that your region is Germany.')
  const told = new Date(clock.now()).toISOString()
  assert.deepEqual(await blocks(), [{ key: 'region', text: 'Germany', revision: 1, updatedAt: told }])

  clock.advance(week)
  assert.equal(await say('What do you remember?'), 'I remember about you:\n- region: Germany')
  assert.match(await say('Who are our top customers?'), /^Our top customers in Germany:\n- QUICK-Stop/)
  assert.match(await say('Who are our top customers in France?'), /^Our top customers in France:/)

  assert.equal(await say('No, my region is France.'), 'I shall remember that your region is France.')
  const corrected = new Date(clock.now()).toISOString()
  assert.deepEqual(await blocks(), [{ key: 'region', text: 'France', revision: 2, updatedAt: corrected }])
  assert.match(await say('Who are our top customers?'), /^Our top customers in France:/)

  assert.equal(await say('Forget my region.'), 'I have forgotten your region.')
  assert.deepEqual(await blocks(), [])
  assert.match(await say('Who are our top customers?'), /^Our top customers:\n/)
})

test('[F39] within one conversation it corrects what it has just written', async () => {
  const chat = runtime.conversation('company-assistant-agent', { parameters: janet })
  for (const [words, answer] of [
    ['Remember that my region is Spain.', 'I shall remember that your region is Spain.'],
    ['No, my region is Italy.', 'I shall remember that your region is Italy.'],
    ['No, my region is the UK.', 'I shall remember that your region is the UK.'],
  ] as const)
    assert.equal((await chat.run(words)).text, answer)
  await runtime.memory.erase({ subject: 'user:local' })
  assert.equal((await chat.run('What do you remember?')).text, 'I remember nothing about you.')
})
