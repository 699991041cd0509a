/** Tb29, P16: any system's export, played again without its models, comes to the same log and the same trace ids. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { memoryStore, type RuntimeOptions } from '@witan/core'
import { replay, readReplaySource } from '@witan/core/export'
import fc from 'fast-check'
import { givenTo, note, randomPlay, type RandomSystem, randomSystem, toTheEnd } from '../support/random-system.ts'
import { holds } from '../support/seeds.ts'
import { createStage, type Stage } from '../support/stage.ts'

function staged(system: RandomSystem, options: RuntimeOptions): Stage {
  const play = randomPlay(system.seed)
  const plays = Object.fromEntries(system.agents.map(({ id }) => [id, play]))
  return createStage({
    agents: system.agents,
    plays,
    options: { tools: [note], protocols: system.protocols ?? [], ...options },
  })
}

const start = (system: RandomSystem) => ({ id: 'chats/1', parameters: givenTo(system) })

test('[P16] [Tb29] a random system, exported and replayed, comes to the same log', async (context) => {
  const property = fc.asyncProperty(randomSystem, async (system) => {
    const store = memoryStore()
    const stage = staged(system, { store: { ...store, close: async () => {} } })
    await toTheEnd(stage.runtime, await stage.ask('a', 'go', start(system)))
    await toTheEnd(stage.runtime, await stage.run('chats/1', { prompt: 'and again' }))
    const source = await readReplaySource(stage.runtime.exportConversation('chats/1'))
    const report = await replay(source)
    assert.deepEqual(report.difference, null)
    assert.equal(report.entries, source.whole.entries.length)
  })
  await holds(context, property, 300)
})
