/** D5: a parked run may be woken before its own process knows that it is parked. Other jobs there go on, and no model is asked twice. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { memoryStore, type Store } from '@witan/core'
import { call } from '@witan/core/testing'
import { createGate, createStage, type Gate, until } from '../support/stage.ts'

/** A store that reports that a job parks only once somebody answers. */
function reportingLate(inner: Store, answered: Gate): Store {
  let earlier: Promise<unknown> = Promise.resolve()
  return {
    ...inner,
    append(append) {
      const stored = inner.append(append)
      const isPark = append.jobs?.some((change) => change.kind === 'rest' && change.status === 'waiting') === true
      const reported = Promise.all([earlier, isPark ? answered.opened : null]).then(() => stored)
      earlier = reported
      return reported
    },
  }
}

const calls = (name: string, args: Record<string, unknown>) => call(name, args).toolCalls ?? []

test('[D5] an answer that comes before a run has heard that it is parked leaves the work beside it alone', async () => {
  const [gate, answered] = [createGate(), createGate()]
  const answers = [{ toolCalls: [...calls('clerk', { message: 'Look.' }), ...calls('Ask', {})] }, 'Asked.', 'Seen.']
  const stage = createStage({
    agents: [
      { id: 'desk', subAgents: [{ agent: 'clerk', blocking: 'never' }], actions: [{ name: 'Ask' }] },
      { id: 'clerk' },
    ],
    plays: {
      desk: () => answers.shift(),
      clerk: async () => {
        await gate.opened
        return 'Looked.'
      },
    },
    options: { store: reportingLate(memoryStore(), answered) },
  })
  const { runtime } = stage
  const { run } = await runtime.start({ agent: 'desk', id: 'chats/1', prompt: 'go' })
  await until(async () => (await runtime.getConversation('chats/1')).interruptions.length > 0)
  const [open] = (await runtime.getConversation('chats/1')).interruptions
  assert.ok(open)
  const answering = runtime.answerInterruption(open.id, { answer: 'yes' })
  answered.open()
  await answering
  await until(async () => (await runtime.getConversation('chats/1')).status === 'idle')
  gate.open()
  await until(async () => (await runtime.getConversation('chats/1')).tasks.length === 0)
  assert.equal((await run?.result)?.status, 'waiting')
  assert.equal(stage.seenBy('clerk').length, 1)
  const events = await stage.events('chats/1')
  assert.ok(!events.some(({ type }) => type === 'notice'))
  assert.deepEqual(stage.reports, [])
  await runtime.close()
})
