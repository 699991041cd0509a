/**
 * An agent asks four others on another server at once, and one of them has a condition: the others go on and keep what they answered, no
 * model is asked before the condition is met, and it may be met after a restart.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { memoryStore, type Store } from '@witan/core'
import { call } from '@witan/core/testing'
import { type FakeClock, fakeClock } from '../support/clock.ts'
import { callerOf, playedRemote, type PlayedRemote, type Turn } from '../support/played-remote.ts'
import { outliving } from '../support/reopen.ts'
import { createStage, settle, type Stage } from '../support/stage.ts'

const places = ['trains', 'hotel', 'flights', 'cars'] as const
const fee = { type: 'policy', policy: { kind: 'payment_required', message: 'One euro.' }, state: 'fee-1' }

/** The hotel has a price; everybody else answers. */
const turn: Turn = ({ parts, metadata }) => {
  const [{ text = '' } = {}] = parts
  if (text === 'hotel') return { state: 'INPUT_REQUIRED', parts: [{ data: fee }] }
  if (metadata.mentionable?.policy_resolution !== undefined) return { state: 'COMPLETED', parts: [{ text: 'a room' }] }
  return { state: 'COMPLETED', parts: [{ text: `some ${text}` }] }
}

interface Played {
  readonly remote: PlayedRemote
  readonly clock: FakeClock
  readonly store: Store
  /** The most requests that were out at once. */
  most: number
  readonly cancelled: string[]
}

function played(): Played {
  const clock = fakeClock()
  return {
    ...{ remote: playedRemote(turn), clock, store: outliving(memoryStore({ now: clock.now })) },
    ...{ most: 0, cancelled: [] },
  }
}

/** A process that works on the store, with an agent that has two calls at once at most. */
function staged(play: Played): Stage {
  const { remote, clock, store } = play
  let out = 0
  const fetch: PlayedRemote['fetch'] = async (url, options) => {
    const { method, params } = JSON.parse(options.body ?? '{}')
    if (method === 'CancelTask') play.cancelled.push(params.id)
    out += 1
    play.most = Math.max(play.most, out)
    await settle(2)
    out -= 1
    return remote.fetch(url, options)
  }
  const remotes = callerOf({ fetch }, { clock, isIdempotent: true })
  const agents = places.map((name) => ({ name, address: `@${name}@b.test`, description: `Knows ${name}.` }))
  return createStage({
    agents: [{ id: 'desk', remotes: agents, limits: { maxParallel: 2 }, interruptionExpiresInSeconds: 3600 }],
    plays: {
      desk: (request, at) =>
        at === 0
          ? { toolCalls: places.flatMap((name) => call(name, { message: name }).toolCalls ?? []) }
          : request.messages
              .flatMap((message) => (message.role === 'tool' ? [String(message.content)] : []))
              .join(', '),
    },
    options: { store, clock, remotes },
  })
}

/** Asks, and waits until the run does. */
async function waiting(play: Played): Promise<{ readonly stage: Stage; readonly id: string; readonly run: string }> {
  const stage = staged(play)
  const result = await stage.ask('desk', 'go', { id: 'chats/1' })
  assert.equal(result.status, 'waiting')
  const [open, ...more] = result.interruptions
  assert.deepEqual([open?.kind, open?.path, more.length], ['policy', 'hotel', 0])
  assert.equal(stage.requests.length, 1, 'no model is asked while the condition waits')
  const answers = (await stage.events('chats/1')).flatMap((event) =>
    event.type === 'end' && event.kind === 'agent' ? [(event.content as { readonly text: string }).text] : [],
  )
  assert.deepEqual(answers.toSorted(), ['some cars', 'some flights', 'some trains'])
  return { stage, id: open?.id ?? '', run: result.runId }
}

async function ended({ runtime }: Stage, run: string): Promise<string> {
  for (let round = 0; round < 200; round += 1) {
    await settle(5)
    const { status, result } = await runtime.getRun(run)
    if (status !== 'running' && status !== 'waiting') return `${status}: ${result?.text}`
  }
  throw new Error('the run did not come to its end')
}

const whole = 'completed: some trains, a room, some flights, some cars'

test('[C15] [M17] [M18] [M21] siblings of a call that has a condition go on, and all answers are in one request', async () => {
  const play = played()
  const { stage, id, run } = await waiting(play)
  assert.equal(play.most, 2, 'as many at once as `maxParallel` says')
  await stage.runtime.answerInterruption(id, { answer: { resolution: { paid: true } } } as never)
  assert.equal(await ended(stage, run), whole)
  assert.equal(stage.requests.length, 2)
  assert.equal(play.remote.tasks.length, 4)
})

test('[C15] [D1] … also where the condition is met after a restart', async () => {
  const play = played()
  const { stage, id, run } = await waiting(play)
  await stage.runtime.close()
  const next = staged(play)
  await next.runtime.ready
  await next.runtime.answerInterruption(id, { answer: { resolution: { paid: true } } } as never)
  assert.equal(await ended(next, run), whole)
  assert.equal(next.requests.length, 1)
  assert.deepEqual(
    play.remote.tasks.map(({ messages }) => messages.length),
    [1, 2, 1, 1],
  )
})

test('[C21] a condition that expires is told as not met, and its task is cancelled', async () => {
  const play = played()
  const { stage, run } = await waiting(play)
  play.clock.advance(3_601_000)
  const text = await ended(stage, run)
  assert.match(text, /condition was not met in time/)
  assert.match(text, /some trains.*some flights, some cars/)
  assert.equal(text.includes('One euro'), false)
  assert.deepEqual(play.cancelled, ['task-2'])
})

test('[D10] [M18] a cancelled run cancels a task that waits for a condition within 5 s', async () => {
  const play = played()
  const { stage, run } = await waiting(play)
  await stage.runtime.cancelRun(run)
  assert.match(await ended(stage, run), /^cancelled/)
  play.clock.advance(5_000)
  await settle(20)
  assert.deepEqual(play.cancelled, ['task-2'])
})
