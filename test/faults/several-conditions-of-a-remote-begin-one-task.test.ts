/**
 * A task elsewhere ends and sets several conditions. The message is sent anew with the first resolution; the others wait until the new task
 * asks for them. The calling process dies at one append after the other: no further task is begun, and nobody is asked twice.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { memoryStore, type Store } from '@witan/core'
import { call, lastUserMessage } from '@witan/core/testing'
import { fakeClock, type FakeClock } from '../support/clock.ts'
import { crashingStore } from '../support/crashing-store.ts'
import { callerOf, playedRemote, type PlayedRemote, type Turn } from '../support/played-remote.ts'
import { outliving } from '../support/reopen.ts'
import { createStage, settle, type Stage } from '../support/stage.ts'

const fee = { kind: 'payment_required', message: 'One euro.' }
const terms = { kind: 'consent_required', message: 'Accept the terms.' }
const asks = (policy: object, state: string) => ({ data: { type: 'policy', policy, state } })

/** It ends at first; the new task asks for the second condition under a state of its own. */
const asksAgain: Turn = ({ metadata, task }) => {
  const given = metadata.mentionable?.policy_resolution
  if (given === undefined) return { state: 'REJECTED', parts: [asks(fee, 'fee-1'), asks(terms, 'terms-1')] }
  if (given['in_reply_to_state'] === 'fee-1') return { state: 'INPUT_REQUIRED', parts: [asks(terms, `terms-${task}`)] }
  return { state: 'COMPLETED', parts: [{ text: `Done after ${String(given['in_reply_to_state'])}.` }] }
}

/** It takes the first resolution for all. */
const asksNoMore: Turn = ({ metadata }) => {
  if (metadata.mentionable?.policy_resolution === undefined)
    return { state: 'FAILED', parts: [asks(fee, 'fee-1'), asks(terms, 'terms-1')] }
  return { state: 'COMPLETED', parts: [{ text: 'Done after one.' }] }
}

function staged(store: Store, clock: FakeClock, of: { remote: PlayedRemote; isIdempotent: boolean }): Stage {
  const { remote, isIdempotent } = of
  const remotes = callerOf(remote, { clock, isIdempotent })
  return createStage({
    agents: [{ id: 'desk', remotes: [{ name: 'docs', address: '@docs@b.test', description: 'Knows.' }] }],
    plays: {
      desk: (request, turn) =>
        turn === 0 && lastUserMessage(request) === 'go'
          ? call('docs', { message: 'Find it.' })
          : `Told: ${String(request.messages.at(-1)?.content)}`,
    },
    options: { store, clock, remotes },
  })
}

async function live(stage: Stage, clock: FakeClock, isDead: () => boolean): Promise<string | null> {
  for (let round = 0; round < 400; round += 1) {
    await settle(3)
    if (isDead()) return null
    const state = await Promise.race([read(stage), settle(20).then(() => null)])
    if (state === null) continue
    if (state.ended !== null) return state.ended
    if (round % 10 === 9) clock.advance(5_000)
  }
  throw new Error('neither dead nor at its end')
}

async function read({ runtime }: Stage): Promise<{ readonly ended: string | null }> {
  const { runs, interruptions } = await runtime.getConversation('chats/1')
  for (const { id } of interruptions)
    await runtime.answerInterruption(id, { answer: { resolution: { ok: true } } } as never).catch(() => {})
  const [run] = runs
  if (run === undefined || run.status === 'running' || run.status === 'waiting') return { ended: null }
  return { ended: (await runtime.getRun(run.runId)).result?.text ?? '' }
}

const statesOf = ({ tasks }: PlayedRemote) =>
  tasks.map(({ messages }) =>
    messages.map(({ metadata }) => metadata?.mentionable?.policy_resolution?.['in_reply_to_state'] ?? null),
  )

const plays = [
  ['asks for the other one', asksAgain, /Done after terms-task-2\./, [[null], ['fee-1', 'terms-task-2']]],
  ['asks no more', asksNoMore, /Done after one\./, [[null], ['fee-1']]],
] as const

for (const [what, turn, text, states] of plays) {
  test(`[M21] of two conditions of a task that has ended, a new task that ${what} gets each once`, async () => {
    const clock = fakeClock()
    const remote = playedRemote(turn)
    const stage = staged(memoryStore({ now: clock.now }), clock, { remote, isIdempotent: false })
    await stage.runtime.start({ agent: 'desk', prompt: 'go', id: 'chats/1' })
    assert.match((await live(stage, clock, () => false)) ?? '', text)
    assert.deepEqual(statesOf(remote), states)
    const ids = remote.tasks.flatMap(({ messages }) => messages.map(({ messageId }) => messageId))
    assert.equal(new Set(ids).size, ids.length)
    assert.equal(new Set(remote.tasks.map(({ contextId }) => contextId)).size, 1)
    const asked = (await stage.events('chats/1')).filter(({ type }) => type === 'policy_required')
    assert.equal(asked.length, 2)
  })

  for (const isIdempotent of [true, false])
    for (const moment of ['before', 'after'] as const)
      test(`[D1] [M21] … and so it is if the process dies ${moment} any append, at a server that ${isIdempotent ? 'takes a message once' : 'does not say so'} and ${what}`, async () => {
        let appends = 1
        for (let at = 2; at <= appends + 1; at += 1) {
          const clock = fakeClock()
          const inner = outliving(memoryStore({ now: clock.now }))
          const remote = playedRemote(turn, { isIdempotent })
          const first = crashingStore(inner, at, moment)
          const stage = staged(first.store, clock, { remote, isIdempotent })
          const begun = await Promise.race([
            stage.runtime.start({ agent: 'desk', prompt: 'go', id: 'chats/1' }).then(() => true),
            first.crashed.then(() => false),
          ])
          let said = await live(stage, clock, first.isDead)
          appends = Math.max(appends, first.appends())
          let events = said === null ? [] : await stage.events('chats/1')
          if (said === null) {
            clock.advance(60_000)
            const second = staged(inner, clock, { remote, isIdempotent })
            if (!begun) await second.runtime.start({ agent: 'desk', prompt: 'go', id: 'chats/1' }).catch(() => {})
            said = (await live(second, clock, () => false)) ?? ''
            events = await second.events('chats/1')
            await second.runtime.close()
          }
          assert.ok(remote.tasks.length <= 2, `append ${at}: ${JSON.stringify(statesOf(remote))}`)
          const isUnknown = !isIdempotent && /whether it has got the message is unknown/.test(said)
          if (!isUnknown) assert.match(said, text, `append ${at}`)
          const given = statesOf(remote).flat()
          assert.equal(new Set(given).size, given.length, `append ${at}: ${JSON.stringify(given)}`)
          assert.ok(events.filter(({ type }) => type === 'policy_required').length <= 2, `append ${at}: asked again`)
        }
        assert.ok(appends > 8, `only ${appends} appends`)
      })
}
