/** An agent elsewhere whose card nobody has signed: each run that calls it says so once, however often it calls, and whatever else is noticed. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createConversationFold } from '@witan/client'
import { readReplaySource, replay } from '@witan/core/export'
import { call } from '@witan/core/testing'
import { playedRemote } from '../support/played-remote.ts'
import { servePlayed } from '../support/played-server.ts'
import { createStage } from '../support/stage.ts'

test('an unsigned card is noticed once in each run, for each agent', async () => {
  const server = await servePlayed(
    playedRemote(() => ({ state: 'COMPLETED', parts: [{ text: 'Here.' }] })),
    'b.test',
  )
  const names = ['docs', 'maps'] as const
  const toolCalls = names.map((name) => ({ name, arguments: { message: 'Find it.' } }))
  const { ask, run, events, runtime } = createStage({
    agents: [{ id: 'desk', remotes: names.map((name) => ({ name, address: `@${name}@b.test` })) }],
    plays: { desk: (_, turn) => (turn % 3 === 2 ? 'done' : { toolCalls: [...toolCalls, ...toolCalls] }) },
    options: { domains: { 'a.test': 'default' }, federation: { resolve: { 'b.test': server.url } } },
  })
  const runs = [await ask('desk', 'go', { id: 'chats/1' }), await run('chats/1', { prompt: 'again' })]
  const noticed = (await events('chats/1')).filter(({ content }) => content['code'] === 'REMOTE_UNSIGNED')
  for (const { runId, status } of runs) {
    assert.equal(status, 'completed')
    const own = noticed.filter(({ rootCallId }) => rootCallId === runId)
    assert.deepEqual(own.map(({ author }) => author).sort(), ['@docs@b.test', '@maps@b.test'])
  }
  await runtime.close()
  await server.close()
})

/** A part with a field that no remote may set. */
const part = { text: 'Here.', speaker: 'user:anna' }

for (const state of ['COMPLETED', 'FAILED'] as const)
  test(`all that is noticed of one call shows, in the tree and in a replay: ${state}`, async () => {
    const server = await servePlayed(
      playedRemote(() => ({ state, parts: [part] })),
      'b.test',
    )
    const { ask, events, runtime } = createStage({
      agents: [{ id: 'desk', remotes: [{ name: 'docs', address: '@docs@b.test' }] }],
      plays: { desk: (_, turn) => (turn === 0 ? call('docs', { message: 'Find it.' }) : 'done') },
      options: { domains: { 'a.test': 'default' }, federation: { resolve: { 'b.test': server.url } } },
    })
    const { conversationId } = await ask('desk', 'go', { id: 'chats/1' })
    const codes = ['REMOTE_UNSIGNED', 'REMOTE_FIELD_DROPPED']
    const all = await events('chats/1')
    const noticed = all.filter(({ type, content }) => type === 'notice' && content['code'] !== 'USAGE_INCOMPLETE')
    assert.deepEqual(
      noticed.map(({ content }) => content['code']),
      codes,
    )
    const fold = createConversationFold()
    for (const event of all) fold.take(event)
    const notices = [...fold.view.calls.values()].flatMap(({ name, notices }) =>
      notices.map(({ code }) => `${name} ${code}`),
    )
    assert.deepEqual(
      notices.filter((one) => !one.endsWith('USAGE_INCOMPLETE')),
      codes.map((code) => `docs ${code}`),
    )
    const lines: string[] = []
    for await (const line of runtime.exportConversation(conversationId)) lines.push(line)
    const found = await replay(await readReplaySource(ReadableStream.from(lines)))
    assert.equal(found.difference, null, JSON.stringify(found.difference))
    await runtime.close()
    await server.close()
  })
