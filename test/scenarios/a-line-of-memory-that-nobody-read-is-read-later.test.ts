/** A call that fails before its model replies has read nothing: what it was to read of its memory is read by the next, once [F39]. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ModelRequest } from '@witan/core'
import { call } from '@witan/core/testing'
import { createStage, type Stage } from '../support/stage.ts'

const block = { agent: 'clerk', scope: 'person', key: 'drink', text: 'PERIWINKLE tea.' } as const
const lines = ({ messages }: ModelRequest) => JSON.stringify(messages).split('PERIWINKLE').length - 1
const failing = (first: { isOver: boolean }) => () => {
  if (first.isOver) return 'yes'
  first.isOver = true
  return new Error('the model is down')
}

/** How the clerk comes to work, twice; the first time its model fails. */
const ways: Readonly<Record<string, () => Stage>> = {
  'a delegate': () =>
    createStage({
      agents: [
        { id: 'desk', subAgents: [{ agent: 'clerk' }] },
        { id: 'clerk', memory: {} },
      ],
      plays: {
        desk: ({ messages }) => (messages.at(-1)?.role === 'user' ? call('clerk', { message: 'go' }) : 'done'),
        clerk: failing({ isOver: false }),
      },
    }),
  'a root': () => createStage({ agents: [{ id: 'clerk', memory: {} }], plays: { clerk: failing({ isOver: false }) } }),
  'one that is handed to': () =>
    createStage({
      agents: [
        { id: 'desk', transfers: [{ agent: 'clerk', returnsTo: 'caller' }] },
        { id: 'clerk', memory: {} },
      ],
      plays: {
        desk: ({ messages }) =>
          messages.at(-1)?.role === 'user' ? call('transfer_to_agent', { agent_name: 'clerk' }) : 'done',
        clerk: failing({ isOver: false }),
      },
    }),
  'a step of a workflow': () =>
    createStage({
      agents: [
        { id: 'desk', workflow: { kind: 'sequence', agents: ['clerk'] } },
        { id: 'clerk', memory: {} },
      ],
      plays: { clerk: failing({ isOver: false }) },
    }),
}

for (const [name, open] of Object.entries(ways))
  test(`[F39] ${name} reads its memory, once, after a call that failed`, async (context) => {
    const stage = open()
    context.after(() => stage.runtime.close())
    await stage.runtime.memory.create({ ...block, subject: 'user:local' })
    await stage.ask(name === 'a root' ? 'clerk' : 'desk', 'One.', { id: 'chats/1' })
    await stage.run('chats/1', { prompt: 'Two.' })
    assert.deepEqual(stage.seenBy('clerk').map(lines), [1, 1])
  })

test('[F39] once somebody else is there, a line that nobody has read is withheld', async (context) => {
  const stage = ways['a root']?.() ?? assert.fail()
  context.after(() => stage.runtime.close())
  await stage.runtime.memory.create({ ...block, subject: 'user:anna' })
  await stage.runtime.start({ agent: 'clerk', id: 'chats/1', users: [{ id: 'anna', name: 'Anna' }] })
  await stage.run('chats/1', { prompt: 'One.', author: 'anna' })
  await stage.runtime.addParticipant('chats/1', { id: 'bob', name: 'Bob' })
  await stage.run('chats/1', { prompt: 'Two.', author: 'bob' })
  assert.deepEqual(stage.seenBy('clerk').map(lines), [1, 0])
})
