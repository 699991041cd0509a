/** What this version cannot do is refused by name; nothing of it is stored or ignored. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { agent, createStage } from '../support/stage.ts'

/** Each key as the contract writes it, and the words that must be said of it. */
async function refused(keys: Readonly<Record<string, unknown>>, feature: RegExp): Promise<void> {
  const { runtime } = createStage({ agents: [{ id: 'billing' }], plays: {} })
  for (const [path, value] of Object.entries(keys)) {
    const [outer = '', inner] = path.split('.')
    const more = inner === undefined ? { [outer]: value } : { [outer]: { [inner]: value } }
    const draft = { ...agent('root'), ...more }
    const wanted = {
      code: 'UNKNOWN_KEY',
      path,
      message: new RegExp(`unknown key \`${path}\`: .*not built in this version`),
    }
    await assert.rejects(runtime.agents.save(draft), wanted, path)
    await assert.rejects(runtime.agents.save(draft), { message: feature }, path)
    await assert.rejects(runtime.agents.saveAll([agent('other'), draft]), wanted, path)
    const { errors } = await runtime.agents.check([draft])
    assert.deepEqual(
      errors.map((finding) => [finding.code, finding.agent, finding.path]),
      [['UNKNOWN_KEY', 'root', path]],
    )
    assert.match(errors[0]?.hint ?? '', /refused, never ignored/)
  }
  assert.deepEqual(
    (await runtime.agents.list()).items.map(({ id }) => id),
    ['billing'],
  )
}

describe('what comes later', () => {
  test('tools of MCP servers', async () => {
    await refused({ mcp: [{ name: 'files', url: 'https://files.example/mcp' }] }, /calling tools of MCP servers/)
  })

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
