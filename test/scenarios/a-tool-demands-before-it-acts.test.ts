/** A function tool demands something before it acts: a `policy` interruption of its own agent, after which it runs again with the resolution. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defineTool, type FunctionContext, memoryStore, type Store } from '@witan/core'
import { call, toolResults } from '@witan/core/testing'
import type { RunResult } from '@witan/protocol'
import { z } from 'zod'
import { readReplaySource, replay } from '@witan/core/export'
import { assertSound } from '../support/claims.ts'
import { fakeClock } from '../support/clock.ts'
import { outliving } from '../support/reopen.ts'
import { createStage, type Stage, until } from '../support/stage.ts'

type Execute = (context: FunctionContext) => unknown

const fee = { kind: 'payment_required', message: 'cny-fee: pay one euro', data: { 'test.shop.price': 1 } }

function stageOf(
  execute: Execute,
  { agent, ...options }: { store?: Store; clock?: ReturnType<typeof fakeClock>; agent?: object } = {},
) {
  const tool = defineTool({
    name: 'buy',
    description: 'Buys.',
    parameters: z.object({}),
    execute: (_, context) => execute(context),
  })
  return createStage({
    agents: [
      { id: 'root', subAgents: [{ agent: 'clerk' }] },
      { id: 'clerk', tools: ['buy'], ...agent },
    ],
    plays: {
      root: (request) => toolResults(request)[0] ?? call('clerk', { message: 'buy' }),
      clerk: (request) => toolResults(request)[0] ?? call('buy'),
    },
    options: { tools: [tool], ...options },
  })
}

const answering = (result: RunResult, answer: unknown) => ({
  answers: [{ id: result.interruptions[0]?.id ?? '', answer }],
})

/** Its log is sound, it replays, and no model has read a word of the demand. */
async function sound(stage: Stage): Promise<void> {
  assertSound(await stage.events('chats/1'))
  assert.deepEqual(stage.reports, [])
  assert.equal(JSON.stringify(stage.requests).includes('cny-'), false)
  const source = await readReplaySource(stage.runtime.exportConversation('chats/1'))
  assert.equal((await replay(source)).difference, null)
}

test('[C21] a demand stands at the root in the name of its agent, and the tool runs again with what resolves it', async () => {
  const seen: unknown[] = []
  const stage = stageOf(async ({ demand, resolution }) => {
    seen.push(resolution)
    const paid = await demand(fee)
    return `bought for ${paid['receipt'] === 'cny-r1' ? 'a receipt' : 'nothing'}`
  })
  const waiting = await stage.ask('root', 'go', { id: 'chats/1' })
  const [asked, ...more] = waiting.interruptions
  assert.ok(asked?.kind === 'policy')
  const { path, agent, issuer, addressee, policy } = asked
  assert.deepEqual([path, agent, issuer, addressee, more.length], ['clerk/buy', 'clerk', 'clerk', null, 0])
  assert.deepEqual(policy, fee)
  for (const wrong of [{ answer: 'yes' }, { decision: 'approved' }, { resolution: 'paid' }, {}])
    await assert.rejects(stage.run('chats/1', answering(waiting, wrong)), { code: 'ANSWER_INVALID' })
  const done = await stage.run('chats/1', answering(waiting, { resolution: { receipt: 'cny-r1' } }))
  assert.deepEqual([done.status, done.text], ['completed', 'bought for a receipt'])
  assert.deepEqual(seen, [null, { receipt: 'cny-r1' }])
  await sound(stage)
})

test('[C21] each demand is made once, and another price is another demand', async () => {
  let price = 1
  let acts = 0
  const stage = stageOf(async ({ demand, resolution }) => {
    const of = { ...fee, data: { 'test.shop.price': price } }
    const first = await demand({ kind: 'consent_required', message: 'cny-may-i' })
    await demand(of)
    assert.deepEqual([first, await demand(of), resolution], [{ by: 'anna' }, { paid: price }, { paid: price }])
    acts += 1
    return 'bought'
  })
  const kinds = (result: RunResult) => result.interruptions.map((one) => one.kind === 'policy' && one.policy['kind'])
  const consent = await stage.ask('root', 'go', { id: 'chats/1' })
  assert.deepEqual(kinds(consent), ['consent_required'])
  const priced = await stage.run('chats/1', answering(consent, { resolution: { by: 'anna' } }))
  assert.deepEqual(kinds(priced), ['payment_required'])
  price = 2
  const dearer = await stage.run('chats/1', answering(priced, { resolution: { paid: 1 } }))
  assert.deepEqual(kinds(dearer), ['payment_required'], 'what was paid before is not enough')
  const done = await stage.run('chats/1', answering(dearer, { resolution: { paid: 2 } }))
  assert.deepEqual([done.text, acts], ['bought', 1])
  await sound(stage)
})

test('[C21] a demand that is declined, or not met in time, is an error in neutral words', async () => {
  const clock = fakeClock()
  const stage = stageOf(({ demand }) => demand(fee), { clock, agent: { interruptionExpiresInSeconds: 60 } })
  const waiting = await stage.ask('root', 'go', { id: 'chats/1' })
  const declined = await stage.run('chats/1', answering(waiting, { decision: 'declined' }))
  assert.match(declined.text, /`buy` failed: The condition was declined\./)
  const again = await stage.run('chats/1', { prompt: 'again' })
  clock.advance(61_000)
  await until(async () => (await stage.runtime.getRun(again.runId)).status === 'completed')
  assert.match((await stage.runtime.getRun(again.runId)).result?.text ?? '', /The condition was not met in time\./)
  await sound(stage)
})

test('[C21] [D11] nothing of a demand waits in a process: another one takes the resolution', async () => {
  const clock = fakeClock()
  const store = outliving(memoryStore({ now: clock.now }))
  const execute: Execute = async ({ demand }) => ((await demand(fee))['paid'] === true ? 'bought' : 'not paid')
  const first = stageOf(execute, { store, clock })
  const waiting = await first.ask('root', 'go', { id: 'chats/1' })
  await first.runtime.close()
  const second = stageOf(execute, { store, clock })
  assert.equal((await second.run('chats/1', answering(waiting, { resolution: { paid: true } }))).text, 'bought')
  await sound(second)
})

test('a demand that cannot be made is refused before anything stands, and its values are not repeated', async () => {
  const circle: Record<string, unknown> = { ...fee }
  circle['data'] = circle
  const wrong: readonly (readonly [unknown, RegExp])[] = [
    [undefined, /expected object/],
    [{ message: 'cny-x' }, /`kind`/],
    [{ kind: 'cny x', message: 'cny-x' }, /`kind`: expected 1 to 64/],
    [{ ...fee, message: '  ' }, /`message`/],
    [{ ...fee, message: 'cny'.repeat(9_000) }, /at most 16000 characters/],
    [{ ...fee, url: 'http://cny.test' }, /`url`: must be an HTTPS URL/],
    [{ ...fee, url: 'https://cny:cny@shop.test' }, /`url`: must be an HTTPS URL/],
    [{ ...fee, state: 'cny-x' }, /the value: Unrecognized key: .*state/],
    [{ ...fee, retry_after_seconds: -1 }, /`retry_after_seconds`/],
    [{ ...fee, data: { 'dev.witan.issuer': '@cny@b.test' } }, /`data.dev.witan.issuer`/],
    [circle, /refers to itself/],
  ]
  for (const [demanded, words] of wrong) {
    const stage = stageOf(({ demand }) => demand(demanded as never))
    const { status, text } = await stage.ask('root', 'go')
    assert.equal(status, 'completed')
    assert.match(text, words)
    assert.equal(text.includes('cny'), false, text)
  }
})
