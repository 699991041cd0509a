/** What a model was asked is computed from the log, byte for byte, in any process that has the log and the code. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRuntime, memoryStore, type ModelRequest } from '@witan/core'
import { scriptedModel } from '@witan/core/testing'
import fc from 'fast-check'
import { assertAsked, modelCallsOf } from '../support/asked.ts'
import { fakeClock } from '../support/clock.ts'
import {
  givenTo,
  note,
  randomPlay,
  type RandomSystem,
  randomSystem,
  toTheEnd,
  definedBy,
} from '../support/random-system.ts'
import { isOfRandomHook } from '../support/random-hooks.ts'
import { outliving } from '../support/reopen.ts'
import { holds } from '../support/seeds.ts'
import { written } from '../support/stage.ts'

/** Opens runtimes of one system on one store, one after the other. */
function opener(system: RandomSystem) {
  const clock = fakeClock()
  const store = outliving(memoryStore({ now: clock.now }))
  const model = scriptedModel(randomPlay(system.seed))
  const reports: unknown[] = []
  const open = () =>
    createRuntime({
      ...{ store, clock, agents: system.agents.map(written), tools: [note], ...definedBy(system) },
      ...{
        models: { 'play/model': model },
        retry: { tries: 1 },
        report: (error) => void (isOfRandomHook(error) || reports.push(error)),
      },
    })
  return { open, requests: model.requests as readonly ModelRequest[], reports }
}

test('what is computed for each model call is what its model got: warm, cold, and in a fork', async (context) => {
  let compared = 0
  const property = fc.asyncProperty(randomSystem, async (system) => {
    const { open, requests, reports } = opener(system)
    const warm = open()
    await warm.start({ agent: 'a', id: 'chats/1', parameters: givenTo(system) })
    for (const prompt of ['go', 'again', 'once more'])
      await toTheEnd(warm, await (await warm.run('chats/1', { prompt })).result)
    const calls = await modelCallsOf(warm, 'chats/1')
    compared += assertAsked(calls, requests).calls
    const { lastSeq } = await warm.getConversation('chats/1')
    await warm.close()
    const cold = open()
    assert.deepEqual(await modelCallsOf(cold, 'chats/1'), calls)
    const fork = await cold.forkConversation('chats/1', { seq: lastSeq, id: 'forks/1' })
    const copied = JSON.parse(JSON.stringify(calls).replaceAll('"chats/1', '"forks/1')) as unknown
    assert.deepEqual(await modelCallsOf(cold, fork.id), copied)
    await cold.close()
    assert.deepEqual(reports, [])
  })
  const expected = await holds(context, property, { all: 240, quick: 40 })
  assert.ok(compared > expected(1_200), `only ${compared} model calls were compared`)
  context.diagnostic(`${compared} model calls`)
})
