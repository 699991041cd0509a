/** A store that fails at random, before or after it did what it was asked: nothing acknowledged is lost, and all ends well. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRuntime, memoryStore, type Runtime } from '@witan/core'
import { type FaultKind, faultyStore, scriptedModel } from '@witan/core/testing'
import { assertEpochs, assertGapFree, assertSettled, assertTree, storedEntries } from '../support/claims.ts'
import { fakeClock } from '../support/clock.ts'
import { outliving } from '../support/reopen.ts'
import { agent, allEvents, cast, settle, until } from '../support/stage.ts'
import { conversation, newLedger, nextStep, openStory, readEnding } from './support/story.ts'

/** Takes steps whatever they throw; time goes on, so that jobs whose worker was lost are taken up again. */
async function persist(runtime: Runtime, advance: () => void): Promise<void> {
  for (let round = 0; round < 600; round += 1) {
    try {
      if (await nextStep(runtime)) return
    } catch (error) {
      assert.equal((error as { code?: string }).code, 'STORE_UNAVAILABLE', String(error))
    }
    if (round % 10 === 9) advance()
    await settle(1)
  }
  throw new Error('I9: the story does not come to its end')
}

async function calmEnding() {
  const clock = fakeClock()
  const store = outliving(memoryStore({ now: clock.now }))
  const { runtime } = openStory(store, newLedger(), clock)
  await persist(runtime, () => {})
  return readEnding(runtime, store)
}

test('[F06] [I1] [I2] [I6] [I7] [I16] appends that fail, or whose reply is lost, leave the story as it was', async (context) => {
  const calm = await calmEnding()
  const fired: Record<FaultKind, number> = { fail: 0, executeAndFail: 0, delay: 0 }
  let same = 0
  let quarantined = 0
  for (let seed = 1; seed <= 40; seed += 1) {
    const clock = fakeClock()
    const inner = outliving(memoryStore({ now: clock.now }))
    const faulty = faultyStore(inner, { seed, rates: { append: { fail: 0.05, executeAndFail: 0.05, delay: 0.2 } } })
    const { runtime } = openStory(faulty.store, newLedger(), clock)
    await runtime.ready
    await persist(runtime, () => clock.advance(15_001))
    faulty.heal()
    for (const { kind } of faulty.fired) fired[kind] += 1
    const events = await allEvents(runtime, conversation)
    assertGapFree(events)
    assertTree(events)
    assertSettled(events)
    assertEpochs(await storedEntries(inner, conversation))
    if (events.some(({ content }) => content['code'] === 'RUN_QUARANTINED')) quarantined += 1
    else {
      assert.deepEqual(await readEnding(runtime, inner), calm, `I16: seed ${seed}`)
      same += 1
    }
    await runtime.close()
  }
  context.diagnostic(JSON.stringify({ fired, same, quarantined }))
  for (const [kind, times] of Object.entries(fired)) assert.ok(times > 10, `I17: ${kind} fired ${times} times`)
  assert.ok(same >= 30, `only ${same} stories came to their end`)
})

test('[F06] a start whose reply is lost is stored; saying more afterwards does not spin', async () => {
  const clock = fakeClock()
  const inner = outliving(memoryStore({ now: clock.now }))
  let lose = false
  const store = new Proxy(inner, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target)
      if (name !== 'append' || typeof member !== 'function') return member
      return async (...args: unknown[]) => {
        const reply: unknown = await member.apply(target, args)
        if (lose) throw new Error('the reply was lost')
        return reply
      }
    },
  })
  const model = scriptedModel(cast({ root: () => 'hi' }))
  const runtime = createRuntime({
    store,
    clock,
    models: { 'play/model': model },
    agents: [agent('root')],
    report: () => {},
  })
  await runtime.start({ agent: 'root', id: 'chats/1' })
  await (await runtime.run('chats/1', { prompt: 'zero' })).result
  lose = true
  await assert.rejects(runtime.run('chats/1', { prompt: 'one' }))
  lose = false
  let turns = 0
  const said = runtime.run('chats/1', { prompt: 'two' }).then((accepted) => accepted.result)
  const ended = said.then(() => true)
  await until(async () => {
    turns += 1
    if (turns % 10 === 0) clock.advance(15_001)
    return Promise.race([ended, settle(1).then(() => false)])
  }, 300)
  const texts = (await allEvents(runtime, 'chats/1')).filter(({ type }) => type === 'message')
  assert.deepEqual(
    texts.map(({ content }) => content['text']),
    ['zero', 'one', 'two'],
  )
})

test('[I17] the same seed gives the same faults, and a healed store fails no more', async () => {
  const play = async (seed: number) => {
    const faulty = faultyStore(memoryStore(), { seed, rates: { getJob: { fail: 0.3, delay: 0.3 } } })
    for (let index = 0; index < 50; index += 1) await faulty.store.getJob('default', 'x').catch(() => null)
    const before = faulty.fired.length
    faulty.heal()
    for (let index = 0; index < 50; index += 1) await faulty.store.getJob('default', 'x')
    assert.equal(faulty.fired.length, before)
    return faulty.fired
  }
  const [one, two, other] = [await play(7), await play(7), await play(8)]
  assert.deepEqual(two, one)
  assert.notDeepEqual(other, one)
  assert.ok(one.length > 10)
})
