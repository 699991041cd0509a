/** Library code goes on with what it said before a restart, without saying it again. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { createRuntime, defineAgent, sqliteStore } from '@witan/core'
import { call, scriptedModel, toolResults } from '@witan/core/testing'

function open(file: string) {
  const model = scriptedModel((request) => toolResults(request)[0] ?? call('Ship', {}), { id: 'scripted/desk' })
  const agent = defineAgent({ id: 'desk', instructions: 'Ship it.', model, actions: [{ name: 'Ship' }] })
  return createRuntime({ agents: [agent], store: sqliteStore({ file }) })
}

test('[R26] [Rb46] [I1] a waiting action is answered by the handler of the next process, and nothing is said twice', async (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'witan-'))
  context.after(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'app.db')
  const before = open(file)
  const told = await before.conversation('desk', { id: 'chats/1' }).run('ship the order')
  assert.equal(told.status, 'waiting')
  await before.close()

  const after = open(file)
  let shipped = 0
  const chat = after.conversation('desk', { id: 'chats/1' }).handle('Ship', () => {
    shipped += 1
    return 'shipped'
  })
  const result = await chat.resume()
  assert.equal(result?.status, 'completed')
  assert.equal(result?.text, 'shipped')
  assert.equal(shipped, 1)
  assert.equal(result?.runId, told.runId)
  assert.equal(await chat.resume(), null)
  const { messages } = await after.getDocument('chats/1')
  assert.equal(messages.filter(({ role }) => role === 'user').length, 1)
  await after.close()
})

test('[Rb34] a chat that was never begun has nothing to resume', async () => {
  const runtime = createRuntime()
  assert.equal(await runtime.conversation('nobody', { id: 'chats/none' }).resume(), null)
  assert.equal(await runtime.conversation('nobody').resume(), null)
  await runtime.close()
})

test('[Rb34] a chat has the id of its options, or none before its first run', async () => {
  const model = scriptedModel(() => 'hello', { id: 'scripted/host' })
  const runtime = createRuntime({ agents: [defineAgent({ id: 'host', instructions: 'Greet.', model })] })
  assert.equal(runtime.conversation('host', { id: 'chats/1' }).id, 'chats/1')
  for (const options of [{}, { id: 'talks/' }]) {
    const chat = runtime.conversation('host', options)
    assert.throws(() => chat.id, { code: 'NOT_FOUND', message: /before its first run/ })
    const { conversationId } = await chat.run('hi')
    assert.equal(chat.id, conversationId)
    assert.match(chat.id, options.id === undefined ? /^[a-z]+\/.+$/ : /^talks\/.+$/)
  }
  const known = runtime.conversation('host', { id: 'chats/1' })
  assert.equal((await known.run('one')).conversationId, 'chats/1')
  assert.equal((await runtime.conversation('host', { id: 'chats/1' }).run('two')).conversationId, 'chats/1')
  assert.equal((await runtime.getConversation('chats/1')).runs.length, 2)
  await runtime.close()
})

test('an option of createRuntime that is misspelt, a store that is none, and an agent without a model are refused at once', () => {
  const wrong = (options: unknown) => () => createRuntime(options as Parameters<typeof createRuntime>[0])
  assert.throws(wrong({ agent: [] }), { code: 'UNKNOWN_KEY', hint: 'Did you mean `agents`?' })
  assert.throws(wrong({ store: 'file:x' }), { code: 'CONFIG_INVALID', path: 'store' })
  const bare = { id: 'ab', instructions: '' } as unknown as Parameters<typeof defineAgent>[0]
  assert.throws(() => defineAgent(bare), { code: 'AGENT_INVALID', path: 'model' })
})
