/** `witan usage`: aligned figures, JSON for a program, and refusals in words. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createClient } from '@witan/client'
import { defineAgent } from '@witan/core'
import { scriptedModel } from '@witan/core/testing'
import { loadConfig, startServer, type WitanServer } from '@witan/server'
import { askConfig, witan } from '../testing/witan.ts'

const usage = { inputTokens: 12_000, outputTokens: 30, cachedInputTokens: 0, reasoningTokens: 0 }
const price = { inputPerMillion: 1, outputPerMillion: 2 }
const modelOf = (id: string, priced: boolean) =>
  scriptedModel(() => ({ text: 'ok', usage }), { id: `scripted/${id}`, ...(priced ? { price } : {}) })
const clerk = defineAgent({ id: 'clerk', instructions: 'Work.', model: modelOf('clerk', true) })
const free = defineAgent({ id: 'free-agent', instructions: 'Work.', model: modelOf('free', false) })

describe('usage on the command line', () => {
  let server: WitanServer
  before(async () => {
    const config = await loadConfig({ file: askConfig, env: { WITAN_LOG_LEVEL: 'error' } })
    server = await startServer({ ...config, agents: [clerk, free] })
  })
  after(() => server.close())
  const shown = (...more: string[]) => witan(['usage', ...more, '--url', server.url])

  test('without any it says what counts', async () => {
    const { code, out, err } = await shown()
    assert.deepEqual([code, out], [0, ''])
    assert.match(err, /Nothing was used yet/)
  })

  test('figures stand below each other, and a cost that is not known is no number', async () => {
    const client = createClient({ url: server.url })
    for (const agent of ['clerk', 'clerk', 'free-agent']) await client.conversation(agent).run('hello')
    client.close()
    const { out } = await shown()
    const lines = ['AGENT       CALLS  TOOLS      IN  OUT     COST']
    assert.deepEqual(out.split('\n').slice(0, 3), [
      ...lines,
      'clerk           2      0  24,000   60  $0.0241',
      'free-agent      1      0  12,000   30        –',
    ])
    assert.ok(!out.includes('\u001b'), 'no colours on a pipe')
    assert.ok((await witan(['usage', '--url', server.url], { columns: 100 })).out.includes('\u001b'))
    const json = JSON.parse((await shown('--by', 'day', '--json')).out)
    assert.deepEqual([json.modelCalls, json.costUsd, json.complete], [3, null, true])
    const cut = await shown('--limit', '1')
    assert.deepEqual([cut.out.trim().split('\n').length, /--limit 1 ends the list/.test(cut.err)], [2, true])
  })

  test('what cannot be is refused in words', async () => {
    for (const [args, words] of [
      [['--by', 'planet'], /agent, conversation, user, model, day/],
      [['--from', 'monday'], /2026-11-25/],
    ] as const) {
      const { code, err } = await shown(...args)
      assert.equal(code, 2)
      assert.match(err, words)
    }
  })
})
