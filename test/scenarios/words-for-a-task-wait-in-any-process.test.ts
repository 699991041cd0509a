/** Words for a task that runs in another process: the wait for its reply ends with that reply, whatever the task did before. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRuntime, memoryStore } from '@witan/core'
import { call, lastUserMessage, scriptedModel } from '@witan/core/testing'
import { agent, cast, createGate, until } from '../support/stage.ts'

test('[F28] a task that has waited before is not taken for one that waits now', async (context) => {
  const gate = createGate()
  const asked = createGate()
  const plays = cast({
    desk: (_, turn) => (turn === 0 ? call('reader', { message: 'Read it.' }) : 'It is read.'),
    reader: async (request, turn) => {
      if (lastUserMessage(request).startsWith('[from')) return 'Only letters, then.'
      if (turn === 0) return call('OpenArchive')
      asked.open()
      await gate.opened
      return 'Read.'
    },
  })
  const desk = agent('desk', { subAgents: [{ agent: 'reader', description: 'Reads.', blocking: 'never' }] })
  const reader = agent('reader', { actions: [{ name: 'OpenArchive', description: 'Opens the archive.' }] })
  const store = memoryStore()
  const models = { 'play/model': scriptedModel(plays) }
  const here = createRuntime({ store, models, agents: [desk, reader] })
  const there = createRuntime({ store: memoryStore({ beside: store }), models, takesWork: false })
  context.after(() => Promise.all([here.close(), there.close()]))
  await Promise.all([here.ready, there.ready])

  const { tasks } = await here.conversation('desk', { id: 'chats/1' }).run('What is in it?')
  const id = tasks[0]?.taskId ?? ''
  await until(async () => (await here.tasks.get(id)).status === 'waiting')
  const [open] = (await here.listInterruptions()).items
  await here.answerInterruption(open?.id ?? '', { answer: 'open' })
  await asked.opened

  const waiting = there.tasks.message(id, { text: 'Only letters.', mode: 'send_and_wait' })
  await until(async () => {
    const { events } = await here.readEvents('chats/1', { verbose: true, limit: 100 })
    return events.some(({ type, content }) => type === 'message' && String(content['text']).includes('Only letters.'))
  })
  gate.open()
  assert.deepEqual(await waiting, { status: 'replied', reply: 'Only letters, then.' })
})
