/** The store breaks just when the result of a `once` tool is written: this process does not run the tool again, whoever wakes the run. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRuntime, defineTool, memoryStore, type Store } from '@witan/core'
import { call, scriptedModel } from '@witan/core/testing'
import { z } from 'zod'
import { assertSound } from '../support/claims.ts'
import { fakeClock } from '../support/clock.ts'
import { outliving } from '../support/reopen.ts'
import { agent, allEvents, cast, settle, until } from '../support/stage.ts'

type Append = Parameters<Store['append']>[0]

/** Fails one append, done or not, the first that holds the end of a tool. */
function breaking(inner: Store, done: boolean): { readonly store: Store; fired(): number } {
  let fired = 0
  const append = async (member: Append) => {
    const breaks = fired === 0 && member.entries.some(({ type, kind }) => type === 'end' && kind === 'tool')
    if (!breaks) return inner.append(member)
    fired += 1
    if (done) await inner.append(member)
    throw new Error('the store broke')
  }
  const store = new Proxy(inner, {
    get(target, name) {
      if (name === 'append') return append
      const member: unknown = Reflect.get(target, name, target)
      return typeof member === 'function' ? member.bind(target) : member
    },
  })
  return { store, fired: () => fired }
}

for (const done of [false, true]) {
  test(`[I4] [D1] a store that breaks at the result of a once tool, ${done ? 'after' : 'before'} it was stored`, async () => {
    const clock = fakeClock()
    const { store, fired } = breaking(outliving(memoryStore({ now: clock.now })), done)
    let executed = 0
    const pay = defineTool({
      name: 'pay',
      description: 'Pays.',
      parameters: z.object({}),
      effect: 'once',
      execute: () => {
        executed += 1
        return 'paid'
      },
    })
    const model = scriptedModel(
      cast({ root: (request) => (request.messages.at(-1)?.content === 'go' ? call('pay') : 'done') }),
    )
    const runtime = createRuntime({
      store,
      clock,
      models: { 'play/model': model },
      agents: [agent('root', { tools: ['pay'] })],
      tools: [pay],
      report: () => {},
    })
    const opened = await runtime.start({ agent: 'root', id: 'chats/1', prompt: 'go' })
    await assert.rejects(opened.run?.result ?? Promise.resolve())
    const second = await runtime.run('chats/1', { prompt: 'well?' })
    await settle()
    clock.advance(20_000)
    await until(async () => (await runtime.getConversation('chats/1')).status === 'idle')
    assert.equal((await second.result).text, 'done')
    assert.equal(executed, 1)
    assert.equal(fired(), 1)
    const events = await allEvents(runtime, 'chats/1')
    assertSound(events)
    const codes = events
      .filter(({ kind, type }) => kind === 'tool' && type === 'error')
      .map(({ content }) => content['code'])
    assert.deepEqual(codes, done ? [] : ['OUTCOME_UNKNOWN'])
  })
}
