/** Words for a task that are sent again under one idempotency key, because their first reply was lost, are said once. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRuntime, defineAgent, type Runtime } from '@witan/core'
import { call, lastUserMessage, scriptedModel } from '@witan/core/testing'
import type { TaskMessageInput } from '@witan/protocol/schemas'

/** The reservation of a fresh key. */
async function begun({ idempotency, principal }: Pick<Runtime, 'idempotency' | 'principal'>, key: string) {
  const path = '/api/v1/tasks/1/messages'
  const scope = { principal, method: 'POST', path, key, name: 'Idempotency-Key', digest: 'd' }
  const reply = await idempotency.begin(scope)
  return reply.state === 'fresh' ? reply.reservation : assert.fail()
}

test('[F28] a message that comes again under its key is the same message, and gets the same reply', async (context) => {
  const archive = Promise.withResolvers<void>()
  const read = scriptedModel(
    async (request) => {
      if (!lastUserMessage(request).startsWith('[from')) await archive.promise
      return lastUserMessage(request)
    },
    { id: 'play/reader' },
  )
  const reader = defineAgent({ id: 'reader', instructions: 'Read.', model: read })
  const desk = defineAgent({
    id: 'desk',
    instructions: 'Have it read.',
    model: scriptedModel((_, turn) => (turn === 0 ? call('reader', { message: 'Read it.' }) : 'It is read.'), {
      id: 'play/desk',
    }),
    subAgents: [{ agent: 'reader', description: 'Reads.', blocking: 'never' }],
  })
  const { tasks, ...runtime } = createRuntime({ agents: [desk, reader] })
  context.after(() => runtime.close())
  const run = await runtime.conversation('desk', { id: 'chats/1' }).run('What is in it?')
  const id = run.tasks[0]?.taskId ?? ''
  const words = { text: 'Only letters.', mode: 'send_and_wait' }
  const note = await begun(runtime, 'a key')
  await tasks.message(id, { text: words.text }, { note })
  const again = tasks.message(id, words as TaskMessageInput, { note })
  const other = tasks.message(id, { text: 'And papers.' }, { note: await begun(runtime, 'another key') })
  assert.equal((await other).status, 'saved')
  const late = { note: { ...(await begun(runtime, 'a third key')), at: 1 } }
  await assert.rejects(tasks.message(id, { text: 'Or none.' }, late), { code: 'IN_PROGRESS' })
  archive.resolve()
  assert.equal((await again).status, 'replied')
  const { events } = await runtime.readEvents('chats/1', { verbose: true, limit: 50 })
  const said = events.flatMap((event) =>
    event.type === 'message' && event.author === 'local' ? [event.content.text] : [],
  )
  assert.deepEqual(said, ['[from @local to @reader] Only letters.', '[from @local to @reader] And papers.'])
})
