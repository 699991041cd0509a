/** The process of a remote call dies at one append after the other; its server goes on. Nothing is done there twice. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRemoteCaller } from '@witan/core/tooling'
import { memoryStore, type Store } from '@witan/core'
import { call, lastUserMessage } from '@witan/core/testing'
import { fakeClock, type FakeClock } from '../support/clock.ts'
import { crashingStore } from '../support/crashing-store.ts'
import { playedRemote, type PlayedRemote } from '../support/played-remote.ts'
import { outliving } from '../support/reopen.ts'
import { createStage, settle, type Stage } from '../support/stage.ts'

const remoteOf = (isIdempotent: boolean) =>
  playedRemote(
    ({ parts, turn }) =>
      turn === 0
        ? { state: 'INPUT_REQUIRED', parts: [{ text: 'Which shelf?' }] }
        : { state: 'COMPLETED', parts: [{ text: `Shelf ${parts[0]?.text}.` }] },
    { isIdempotent },
  )

function staged(
  store: Store,
  clock: FakeClock,
  { remote, isIdempotent }: { remote: PlayedRemote; isIdempotent: boolean },
): Stage {
  const endpoint = { url: 'http://b.test/', binding: 'JSONRPC', tenant: null, isStreaming: true, isIdempotent } as const
  const remotes = createRemoteCaller(
    {
      find: async () => ({ ok: true, endpoint, notice: null }),
      sign: async () => ({ bearer: null, metadata: {}, extensions: [] }),
      trustsUsage: () => false,
      newId: () => 'read',
      clock,
      fetch: remote.fetch,
    },
    (error) => assert.fail(String(error)),
  )
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

/** Lets a process work until it is dead or its run has ended, and answers what is asked. */
async function live(stage: Stage, clock: FakeClock, { isDead }: { isDead(): boolean }): Promise<string | null> {
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

async function read({ runtime }: Stage): Promise<{ readonly ended: string | null } | null> {
  const { runs, interruptions } = await runtime.getConversation('chats/1')
  const [open] = interruptions
  if (open !== undefined)
    await runtime.answerInterruption(open.id, { answer: { input: { text: '7' } } } as never).catch(() => {})
  const [run] = runs
  if (run === undefined || run.status === 'running' || run.status === 'waiting') return { ended: null }
  return { ended: (await runtime.getRun(run.runId)).result?.text ?? '' }
}

for (const isIdempotent of [true, false])
  for (const moment of ['before', 'after'] as const)
    test(`[D1] a process that dies ${moment} any append of a remote call, at a server that ${isIdempotent ? 'takes a message once' : 'does not say so'}`, async () => {
      let appends = 1
      let unknown = 0
      for (let at = 2; at <= appends + 1; at += 1) {
        const clock = fakeClock()
        const inner = outliving(memoryStore({ now: clock.now }))
        const remote = remoteOf(isIdempotent)
        const first = crashingStore(inner, at, moment)
        const stage = staged(first.store, clock, { remote, isIdempotent })
        const begun = await Promise.race([
          stage.runtime.start({ agent: 'desk', prompt: 'go', id: 'chats/1' }).then(() => true),
          first.crashed.then(() => false),
        ])
        let said = await live(stage, clock, first)
        appends = Math.max(appends, first.appends())
        if (said === null) {
          clock.advance(60_000)
          const second = staged(inner, clock, { remote, isIdempotent })
          if (!begun) await second.runtime.start({ agent: 'desk', prompt: 'go', id: 'chats/1' }).catch(() => {})
          said = await live(second, clock, { isDead: () => false })
          await second.runtime.close()
        }
        assert.ok(remote.tasks.length <= 1, `append ${at}: ${remote.tasks.length} tasks were begun there`)
        if (!isIdempotent && /whether it has got the message is unknown/.test(said ?? '')) unknown += 1
        else assert.match(said ?? '', /Shelf 7\./, `append ${at}`)
      }
      assert.ok(appends > 5, `only ${appends} appends`)
      if (!isIdempotent) assert.ok(unknown > 0, 'no crash between the note and the task')
    })
