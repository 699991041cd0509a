/** An agent elsewhere whose card nobody has signed: each run that calls it says so once, however often it calls. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
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
