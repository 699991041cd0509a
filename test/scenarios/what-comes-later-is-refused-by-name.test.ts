/** What this version cannot do is refused by name; nothing of it is stored or ignored. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createStage } from '../support/stage.ts'

describe('what comes later', () => {
  test('[C11] a model that hands over although its agent lists no target hears that there is no such tool', async () => {
    const stage = createStage({
      agents: [{ id: 'root', subAgents: [{ agent: 'billing' }] }, { id: 'billing' }],
      plays: {
        root: [{ toolCalls: [{ name: 'transfer_to_agent', arguments: { agent_name: 'billing' } }] }, 'I stay.'],
        billing: ['never asked'],
      },
    })
    const result = await stage.ask('root', 'Who does bills?')
    assert.deepEqual([result.status, result.text], ['completed', 'I stay.'])
    assert.match(stage.seenBy('root')[1]?.messages.at(-1)?.content ?? '', /unknown tool transfer_to_agent/)
    assert.equal(stage.seenBy('billing').length, 0)
  })

  test('no chain between servers comes in by a request', async () => {
    const { runtime } = createStage({ agents: [{ id: 'root' }], plays: { root: ['x'] } })
    const chain = { hop: 1, max_hops: 1_000_000_000, is_final: false }
    for (const more of [{ agent_chain: chain }, { metadata: { mentionable: { agent_chain: chain } } }])
      await assert.rejects(runtime.start({ agent: 'root', prompt: 'hi', ...more }), { code: 'UNKNOWN_KEY' })
    assert.deepEqual((await runtime.listConversations()).items, [])
  })

  test('[E30] no evidence comes in by a request', async () => {
    const { runtime } = createStage({ agents: [{ id: 'root' }], plays: { root: ['x'] } })
    const evidence = { on_behalf_of: ['@anna@example.com'] }
    await assert.rejects(runtime.start({ agent: 'root', prompt: 'hi', ...evidence }), { code: 'UNKNOWN_KEY' })
  })
})
