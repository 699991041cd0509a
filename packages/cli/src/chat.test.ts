/** The lines of `witan chat` that are no messages. */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { sitting } from './testing/person.ts'
import { deskConfig, witan } from './testing/witan.ts'

const words = ['chat', 'front-desk', '--param', 'userId=u/1', '--config', deskConfig]

test('/help says what a line may be, and nothing is sent', async () => {
  const { code, screen } = await sitting(words, ['/help', '/exit'])
  assert.equal(code, 0)
  assert.match(screen, /\/help says what you can do here\.\n/)
  assert.match(
    screen,
    /\n {2}any words +A message to front-desk\..*\n {2}\/exit +Leave;.*\n {2}Ctrl\+C +Cancel the running run/s,
  )
  assert.doesNotMatch(screen, /model call|--id/)
})

test('a mistyped word of this kind is not sent to the agent', async () => {
  const { screen } = await sitting(words, ['/hlep', '/exit'])
  assert.match(screen, /There is no \/hlep, and it was not sent\. \/help lists what there is\./)
  assert.doesNotMatch(screen, /model call/)
})

test('/help on a pipe is answered too, and what merely begins with a slash is a message', async () => {
  const { out, code } = await witan(words, { input: '/help\n/etc/hosts, what is that?\n' })
  assert.equal(code, 0)
  assert.match(out, /\/exit +Leave/)
  assert.match(out, /It is user u\/1\./)
  assert.doesNotMatch(out, /says what you can do here/)
})

test('where the store lasts, /help and the end name the command that goes on with the conversation', async (context) => {
  const folder = await mkdtemp(join(tmpdir(), 'witan-chat-'))
  context.after(() => rm(folder, { recursive: true }))
  const store = { WITAN_STORE_URL: `file:${join(folder, 'witan.db')}` }
  const { screen } = await sitting(words, ['Who am I?', '/help', '/exit'], store)
  const command = `witan chat front-desk --id (chats/\\S+) --config ${deskConfig}`
  const [, later] = new RegExp(`Later it goes on with: ${command}`).exec(screen) ?? []
  const [, end] = new RegExp(`Go on with: ${command}\\n$`).exec(screen) ?? []
  assert.ok(later !== undefined && later === end, screen)
  const again = await sitting(
    ['chat', 'front-desk', '--id', later, '--config', deskConfig],
    ['Who am I?', '/exit'],
    store,
  )
  assert.match(again.screen, /It is user u\/1\./)
})
