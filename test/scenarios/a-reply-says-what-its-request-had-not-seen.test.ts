/** O7: the end of a model call says how many entries came between its request and itself. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Runtime } from '@witan/core'
import { call } from '@witan/core/testing'
import type { Entry } from '@witan/protocol/entries'
import { createStage, settle } from '../support/stage.ts'

/** The replies in the log: who gave each, and what it says of what its request had not seen. */
async function repliesIn(runtime: Runtime): Promise<readonly (readonly [string, number | undefined])[]> {
  const replies: [string, number | undefined][] = []
  for await (const line of runtime.exportConversation('chats/1')) {
    const { entry } = JSON.parse(line) as { readonly entry?: Entry }
    if (entry?.type === 'end' && entry.kind === 'model') replies.push([entry.place.author, entry.body.behind])
  }
  return replies
}

test('[O7] [O9] a run of which one thing happens after the other says nothing of it', async () => {
  const stage = createStage({
    agents: [{ id: 'a', subAgents: [{ agent: 'b' }] }, { id: 'b' }],
    plays: { a: [call('b', { message: 'go' }), 'done'], b: ['here'] },
  })
  await stage.ask('a', 'go', { id: 'chats/1' })
  assert.deepEqual(await repliesIn(stage.runtime), [
    ['a', undefined],
    ['b', undefined],
    ['a', undefined],
  ])
})

test('[O7] a reply counts what siblings recorded and what a person said since its request', async () => {
  const gate = Promise.withResolvers<void>()
  const both = ['b', 'c'].map((name) => ({ name, arguments: { message: 'go' } }))
  const stage = createStage({
    agents: [{ id: 'a', subAgents: [{ agent: 'b' }, { agent: 'c' }] }, { id: 'b' }, { id: 'c' }],
    plays: {
      a: ({ messages }) => (messages.some(({ role }) => role === 'tool') ? 'done' : { toolCalls: both }),
      b: ['at once'],
      c: async () => {
        await gate.promise
        return 'late'
      },
    },
  })
  const opened = await stage.runtime.start({ agent: 'a', id: 'chats/1', prompt: 'go' })
  await settle(20)
  await stage.runtime.run('chats/1', { prompt: 'more', onActive: 'enqueue' })
  gate.resolve()
  await opened.run?.result
  // The reply and the end of `b`, and the message.
  assert.deepEqual(await repliesIn(stage.runtime), [
    ['a', undefined],
    ['b', undefined],
    ['c', 3],
    ['a', undefined],
  ])
})
