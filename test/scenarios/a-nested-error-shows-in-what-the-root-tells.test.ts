/** What goes wrong below the root: left out of a terse stream, there in the log, and in what the root itself comes to. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { call } from '@witan/core/testing'
import type { AnyEvent } from '@witan/protocol'
import { createStage, type Stage } from '../support/stage.ts'

/** Follows a conversation live until its root call is over, without the deltas. */
async function followed(stage: Stage, verbose: boolean): Promise<AnyEvent[]> {
  const events: AnyEvent[] = []
  const { signal } = new AbortController()
  for await (const event of stage.runtime.followEvents('chats/1', { from: 0, verbose, signal })) {
    if (event.type === 'delta') continue
    events.push(event)
    const isOver = event.kind === 'agent' && (event.type === 'end' || event.type === 'error')
    if (isOver && event.callId === event.rootCallId) return events
  }
  return events
}

async function live(stage: Stage) {
  await stage.runtime.start({ agent: 'root', id: 'chats/1' })
  const readers = Promise.all([followed(stage, false), followed(stage, true)])
  const result = await stage.run('chats/1', { prompt: 'go' })
  const [terse, verbose] = await readers
  return { result, terse, verbose, stored: await stage.events('chats/1') }
}

const errorsOf = (events: readonly AnyEvent[]) =>
  events
    .filter(({ type, kind }) => type === 'error' && kind !== 'model')
    .map(({ agentPath, content }) => [agentPath, content['code']])

test('[E76] [F34] an error that a parent can mend is left out of a terse stream; its words are in the root’s end and in the log', async () => {
  const stage = createStage({
    agents: [
      { id: 'root', subAgents: [{ agent: 'mid' }] },
      { id: 'mid', subAgents: [{ agent: 'leaf' }] },
      { id: 'leaf' },
    ],
    plays: {
      root: (request, turn) => (turn === 0 ? call('mid', { message: 'm' }) : request.messages.at(-1)?.content),
      mid: (request, turn) => (turn === 0 ? call('leaf', { message: 'l' }) : request.messages.at(-1)?.content),
      leaf: () => new Error('the leaf fell'),
    },
  })
  const { result, terse, verbose, stored } = await live(stage)
  assert.equal(result.status, 'completed')
  assert.deepEqual(errorsOf(terse), [])
  assert.ok(terse.every(({ callId, rootCallId }) => callId === rootCallId))
  const end = terse.at(-1)
  assert.match(String(end?.content['text']), /the leaf fell/, 'reflected in the root’s own end')
  assert.deepEqual(errorsOf(verbose), [['root/mid/leaf', 'MODEL_CALL_FAILED']])
  assert.deepEqual(verbose, stored, 'what is stored is what a verbose reader gets')
})

test('[E76] an error below that ends the run is the root’s own error, also for a terse reader', async () => {
  const trusted = { name: 'userId', sendToModel: false, policy: 'forbidModelGeneration' } as const
  const stage = createStage({
    agents: [
      { id: 'root', subAgents: [{ agent: 'mid' }] },
      { id: 'mid', subAgents: [{ agent: 'leaf' }] },
      { id: 'leaf', parameters: [trusted] },
    ],
    plays: { root: [call('mid', { message: 'm' })], mid: [call('leaf', { message: 'l' })], leaf: ['never'] },
  })
  const { result, terse, verbose, stored } = await live(stage)
  assert.equal(result.error?.code, 'MISSING_AGENT_PARAMETER')
  assert.deepEqual(errorsOf(terse), [['root', 'MISSING_AGENT_PARAMETER']])
  assert.match(String(terse.at(-1)?.content['detail']), /`root\/mid\/leaf` needs `userId`/)
  assert.deepEqual(errorsOf(verbose), [
    ['root/mid', 'RUN_CANCELLED'],
    ['root', 'MISSING_AGENT_PARAMETER'],
  ])
  assert.deepEqual(verbose, stored)
})
