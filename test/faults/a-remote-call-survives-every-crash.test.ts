/** The process of a remote call dies at one append after the other; its server goes on. Nothing is done there twice. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Store } from '@witan/core'
import { call, lastUserMessage } from '@witan/core/testing'
import type { Interruption } from '@witan/protocol'
import { type CrashMoment, crashingStore } from '../support/crashing-store.ts'
import { callerOf, playedRemote, type PlayedRemote } from '../support/played-remote.ts'
import { createStage, type Stage } from '../support/stage.ts'
import { atEachAppend, type Place, places } from './support/places.ts'

const condition = { type: 'policy', policy: { kind: 'payment_required', message: 'One euro.' }, state: 'sealed' }

/** It asks a question, then makes a condition, and then answers. */
const remoteOf = (isIdempotent: boolean) =>
  playedRemote(
    ({ parts, turn }) => {
      if (turn === 0) return { state: 'INPUT_REQUIRED', parts: [{ text: 'Which shelf?' }] }
      if (turn === 1) return { state: 'INPUT_REQUIRED', parts: [{ text: String(parts[0]?.text) }, { data: condition }] }
      return { state: 'COMPLETED', parts: [{ text: 'Shelf 7, paid.' }] }
    },
    { isIdempotent },
  )

function staged(
  { timing }: Place,
  store: Store,
  { remote, isIdempotent }: { readonly remote: PlayedRemote; readonly isIdempotent: boolean },
): Stage {
  const remotes = callerOf(remote, { clock: timing.clock, isIdempotent })
  return createStage({
    agents: [{ id: 'desk', remotes: [{ name: 'docs', address: '@docs@b.test', description: 'Knows.' }] }],
    plays: {
      desk: (request, turn) =>
        turn === 0 && lastUserMessage(request) === 'go'
          ? call('docs', { message: 'Find it.' })
          : `Told: ${String(request.messages.at(-1)?.content)}`,
    },
    options: { store, remotes, ...timing },
  })
}

/** Lets a process work until it is dead or its run has ended, and answers what is asked. */
async function live(stage: Stage, place: Place, isDead: () => boolean): Promise<string | null> {
  for (let round = 0; round < 1_000; round += 1) {
    await place.pass(round)
    if (isDead()) return null
    const state = await Promise.race([read(stage), place.patience()])
    if (state?.ended != null) return state.ended
  }
  throw new Error('neither dead nor at its end')
}

const answerTo = ({ kind }: Interruption) =>
  kind === 'policy' ? { answer: { resolution: { paid: 1 } } } : { answer: { input: { text: '7' } } }

/** An answer may come once more before the first is seen; anything else is wrong. */
function refusedLate(error: unknown): void {
  if ((error as { code?: string }).code === 'ANSWER_INVALID') throw error
}

async function read({ runtime }: Stage): Promise<{ readonly ended: string | null } | null> {
  const { runs, interruptions } = await runtime.getConversation('chats/1')
  const [open] = interruptions
  if (open !== undefined) await runtime.answerInterruption(open.id, answerTo(open) as never).catch(refusedLate)
  const [run] = runs
  if (run === undefined || run.status === 'running' || run.status === 'waiting') return { ended: null }
  return { ended: (await runtime.getRun(run.runId)).result?.text ?? '' }
}

interface Told {
  readonly said: string
  readonly fired: boolean
}

async function tell(place: Place, at: number, of: { moment: CrashMoment; isIdempotent: boolean }): Promise<Told> {
  const remote = remoteOf(of.isIdempotent)
  const first = crashingStore(place.store, at, of.moment)
  const stage = staged(place, first.store, { ...of, remote })
  const begun = await Promise.race([
    stage.runtime.start({ agent: 'desk', prompt: 'go', id: 'chats/1' }).then(() => true),
    first.crashed.then(() => false),
  ])
  let said = await live(stage, place, first.isDead)
  const fired = said === null
  if (said === null) {
    place.clock?.advance(60_000)
    const second = staged(place, place.store, { ...of, remote })
    if (!begun) await second.runtime.start({ agent: 'desk', prompt: 'go', id: 'chats/1' }).catch(() => {})
    said = await live(second, place, () => false)
    await second.runtime.close()
  } else await stage.runtime.close()
  assert.ok(remote.tasks.length <= 1, `append ${at}: ${remote.tasks.length} tasks were begun there`)
  const resolved = remote.tasks[0]?.messages.filter(({ metadata }) =>
    JSON.stringify(metadata ?? {}).includes('"paid":1'),
  )
  assert.ok((resolved?.length ?? 0) <= 1, `append ${at}: paid ${resolved?.length} times`)
  return { said: said ?? '', fired }
}

for (const [name, placeOf] of Object.entries(places))
  for (const isIdempotent of [true, false])
    for (const moment of ['before', 'after'] as const)
      test(`[D1] [I4] [I16] a process that dies ${moment} any append of a remote call with a question and a condition, at a server that ${isIdempotent ? 'takes a message once' : 'does not say so'}, ${name}`, async (context) => {
        let unknown = 0
        const isFired = async (at: number) => {
          const place = await placeOf(context)
          const told = await tell(place, at, { moment, isIdempotent })
          await place.close()
          if (!isIdempotent && /whether it has got the message is unknown/.test(told.said)) unknown += 1
          else assert.match(told.said, /Shelf 7, paid\./, `append ${at}`)
          return told.fired
        }
        const faults = await atEachAppend(name, isFired)
        context.diagnostic(`${name} ${faults} trials, ${faults} faults fired, ${unknown} unknown, 0 violations`)
        assert.ok(faults > 8, `I17: only ${faults} faults fired`)
        // On PostgreSQL the same append holds now this, now that: a trial may miss the one between.
        if (!isIdempotent && name !== 'PostgreSQL') assert.ok(unknown > 0, 'no crash between the note and the task')
      })
