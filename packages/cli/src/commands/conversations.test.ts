/** `witan conversations show` and `export` of a long conversation: the server gives it in pages, and what is printed is whole. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createClient } from '@witan/client'
import { defineAgent } from '@witan/core'
import { scriptedModel } from '@witan/core/testing'
import { loadConfig, startServer, type WitanServer } from '@witan/server'
import { askConfig, witan } from '../testing/witan.ts'

const talker = defineAgent({
  id: 'talker',
  instructions: 'Answer.',
  model: scriptedModel(() => 'Heard.', { id: 'scripted/talker' }),
})

describe('a long conversation on the command line', () => {
  let server: WitanServer
  const count = 110
  before(async () => {
    const config = await loadConfig({ file: askConfig, env: { WITAN_LOG_LEVEL: 'error' } })
    server = await startServer({ ...config, agents: [talker] })
    const client = createClient({ url: server.url })
    const chat = client.conversation('talker', { id: 'chats/long' })
    for (let index = 0; index < count; index += 1) await chat.run(`note ${index}`)
    client.close()
  })
  after(() => server.close())

  test('as JSON it has every run and every message, each once and in order', async () => {
    const { out, code } = await witan(['conversations', 'show', 'chats/long', '--json', '--url', server.url])
    assert.equal(code, 0)
    const { conversation, runs, document } = JSON.parse(out)
    assert.deepEqual([conversation.runs.length, conversation.runCount, runs.length], [50, count, count])
    const texts = document.messages.map(({ text }: { text: string }) => text)
    assert.deepEqual(texts, Array.from({ length: count }, (_, index) => [`note ${index}`, 'Heard.']).flat())
    assert.deepEqual([document.olderCursor, document.newerCursor, document.hasMore], [null, null, false])
  })

  test('its diagram says who said what to whom in its latest run, or in the one that is named', async () => {
    const diagram = (...more: string[]) =>
      witan(['conversations', 'diagram', 'chats/long', ...more, '--url', server.url])
    assert.equal((await diagram()).out, '1  user   → talker  note 109\n2  talker ⇢ user    Heard.\n')
    const client = createClient({ url: server.url })
    const { runs } = await client.conversations.get('chats/long')
    const run = runs[0]?.runId ?? ''
    assert.match((await diagram('--run', run, '--format', 'mermaid')).out, /talker-->>user: 2\. Heard\./)
    await client.conversation('talker', { id: 'chats/other' }).run('hello')
    const [other] = (await client.conversations.get('chats/other')).runs
    client.close()
    for (const [wrong, words] of [
      [['--format', 'svg'], /no format svg/],
      [['--run', other?.runId ?? ''], /is not of the conversation chats\/long/],
      [['--run', 'c_none'], /c_none/],
    ] as const) {
      const { err, code } = await diagram(...wrong)
      assert.match(err, words)
      assert.notEqual(code, 0)
    }
  })

  test('in words it has the tree of every run, and its export every entry', async () => {
    const { out } = await witan(['conversations', 'show', 'chats/long', '--url', server.url])
    assert.equal(out.match(/› note \d+/g)?.length, count)
    const words = ['conversations', 'export', 'chats/long', '--events', '--url', server.url]
    const log = (await witan(words)).out.trimEnd().split('\n')
    assert.deepEqual(
      log.map((line) => JSON.parse(line).seq),
      log.map((_, index) => index + 1),
    )
  })
})
