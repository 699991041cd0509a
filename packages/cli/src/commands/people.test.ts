/** `witan conversations people`, and the list of what waits for whoever asks. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createClient } from '@witan/client'
import { defineAgent } from '@witan/core'
import { call, scriptedModel } from '@witan/core/testing'
import { loadConfig, startServer, type WitanServer } from '@witan/server'
import { askConfig, witan } from '../testing/witan.ts'

const asker = defineAgent({
  id: 'asker',
  instructions: 'Ask.',
  users: 'participants',
  model: scriptedModel((_, turn) => (turn === 0 ? call('ask_user', { message: 'Which day?' }) : 'Noted.'), {
    id: 'scripted/asker',
  }),
})

describe('people on the command line', () => {
  let server: WitanServer
  before(async () => {
    const config = await loadConfig({ file: askConfig, env: { WITAN_LOG_LEVEL: 'error' } })
    server = await startServer({ ...config, agents: [asker] })
    const client = createClient({ url: server.url })
    await client.conversations.start({ agent: 'asker', id: 'chats/1' })
    client.close()
  })
  after(() => server.close())
  const people = (...more: string[]) => witan(['conversations', 'people', 'chats/1', ...more, '--url', server.url])

  test('a person is added with name and roles, listed, and removed', async () => {
    assert.match((await people()).err, /Nobody in particular takes part/)
    const added = await people('--add', 'bob', '--name', 'Bob', '--role', 'buyer', '--role', 'clerk')
    assert.deepEqual([added.code, added.out], [0, 'bob takes part in chats/1\n'])
    assert.match((await people()).out, /PERSON +NAME +ROLES +JOINED +LEFT\nbob +Bob +buyer, clerk +/)
    assert.deepEqual((await people('--remove', 'bob')).out, 'bob left chats/1\n')
    const { leftAt } = JSON.parse((await people('--json')).out)
    assert.equal(typeof leftAt, 'string')
  })

  test('a conversation can begin with people, who are then asked by name', async () => {
    const run = (...more: string[]) => witan(['run', 'asker', 'go', ...more, '--url', server.url])
    const { code, out } = await run('--user', 'ines', '--id', 'chats/begun')
    assert.equal(code, 3)
    assert.match(out, /◆ ask_user waits for an answer from ines\n {4}Which day\?/)
    const listed = await witan(['conversations', 'people', 'chats/begun', '--url', server.url])
    assert.match(listed.out, /\nines +/)
    const refused = await run('--user', 'bob', '--id', 'chats/begun')
    assert.match(refused.err, /PARAM_FIXED.*ines[\s\S]*people chats\/begun --add PERSON/)
    assert.match((await run('--user', 'asker')).err, /NAME_TAKEN {2}`asker` is the id of an agent/)
  })

  test('what cannot be is refused in words', async () => {
    for (const [args, words] of [
      [['--add', 'a', '--remove', 'b'], /either added or removed/],
      [['--name', 'Bob'], /--name and --role say who is added/],
      [['--remove', 'nobody'], /no participant `nobody`/],
      [['--add', 'asker'], /`asker` is the id of an agent/],
    ] as const) {
      const { code, err } = await people(...args)
      assert.notEqual(code, 0)
      assert.match(err, words)
    }
  })

  test('with --mine the list has what waits for whoever asks, and an answer goes on', async () => {
    await people('--add', 'local')
    const client = createClient({ url: server.url })
    const chat = client.conversation('asker', { id: 'chats/1' })
    const { interruptions } = await chat.run('go')
    const list = (...more: string[]) => witan(['interruptions', 'list', ...more, '--url', server.url])
    assert.match((await list('--mine')).out, new RegExp(`${interruptions[0]?.id} +message +local`))
    assert.match((await list('--mine', '--addressee', 'bob')).err, /--mine is --addressee me/)
    await witan(['interruptions', 'answer', interruptions[0]?.id ?? '', 'Friday', '--url', server.url])
    assert.match((await list('--mine')).err, /Nothing waits for you/)
    client.close()
  })
})
