/** Whatever a reader gets is made from the log alone: read live, read later, read by another process, it is the same to the byte. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { memoryStore, type Runtime } from '@witan/core'
import type { AnyEvent } from '@witan/protocol'
import fc from 'fast-check'
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
import { outliving } from '../support/reopen.ts'
import { holds } from '../support/seeds.ts'
import { createStage, until } from '../support/stage.ts'
import { viewsOf } from '../support/views.ts'

/** Puts into `into` what a reader gets who is there from the first moment on, without the deltas. */
async function follow(
  runtime: Runtime,
  into: AnyEvent[],
  { verbose, signal }: { verbose: boolean; signal: AbortSignal },
) {
  try {
    for await (const event of runtime.followEvents('chats/1', { from: 0, verbose, signal }))
      if (event.type !== 'delta') into.push(event)
  } catch (error) {
    if (!signal.aborted) throw error
  }
}

async function play(system: RandomSystem) {
  const clock = fakeClock()
  const store = outliving(memoryStore({ now: clock.now }))
  const rule = randomPlay(system.seed)
  const plays = Object.fromEntries(system.agents.map(({ id }) => [id, rule]))
  const open = () =>
    createStage({
      agents: system.agents,
      plays,
      options: { tools: [note], ...definedBy(system), store, clock },
    }).runtime
  const first = open()
  await first.start({ agent: 'a', id: 'chats/1', parameters: givenTo(system) })
  const stop = new AbortController()
  const live: [verbose: AnyEvent[], terse: AnyEvent[]] = [[], []]
  const { signal } = stop
  const readers = live.map((into, index) => follow(first, into, { verbose: index === 0, signal }))
  for (const prompt of ['go', 'again']) {
    await toTheEnd(first, await (await first.run('chats/1', { prompt })).result)
    clock.advance(1234)
  }
  const views = await viewsOf(first)
  for (const [index, name] of ['verbose', 'terse'].entries()) {
    const { length } = JSON.parse(views.get(name) ?? '[]') as unknown[]
    await until(() => live[index]?.length === length)
  }
  stop.abort()
  await Promise.all(readers)
  await first.close()
  const second = open()
  const replayed = await viewsOf(second)
  const again = await viewsOf(second)
  await second.close()
  return { views, replayed, again, live }
}

test('[P16] [C32] every view is a function of the log: live, stored and replayed by another runtime they are the same to the byte', async (context) => {
  let compared = 0
  const property = fc.asyncProperty(randomSystem, async (system) => {
    const { views, replayed, again, live } = await play(system)
    assert.deepEqual([...replayed.keys()], [...views.keys()])
    for (const [name, text] of views) {
      assert.equal(replayed.get(name), text, `another runtime reads another ${name}`)
      assert.equal(again.get(name), text, `${name} is another when it is read twice`)
      compared += 1
    }
    assert.equal(JSON.stringify(live[0]), views.get('verbose'), 'a live verbose reader got something else')
    assert.equal(JSON.stringify(live[1]), views.get('terse'), 'a live terse reader got something else')
  })
  const expected = await holds(context, property, 200)
  assert.ok(compared > expected(2000), `only ${compared} views were compared`)
})
