/** The process dies at its n-th append while people speak, are asked all at once, join and leave: models read the same, and nobody is lost. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { memoryStore, type Store } from '@witan/core'
import { call, type Rule } from '@witan/core/testing'
import { isWitanError } from '@witan/protocol'
import { assertSound } from '../support/claims.ts'
import { fakeClock } from '../support/clock.ts'
import { type CrashMoment, crashingStore } from '../support/crashing-store.ts'
import { outliving } from '../support/reopen.ts'
import { allEvents, createStage, settle, type Stage } from '../support/stage.ts'

const leaseMs = 15_000
const id = 'chats/1'

const rule: Rule = ({ messages }) => {
  const words = messages.filter(({ role }) => role === 'user').at(-1)?.content ?? ''
  if (messages.at(-1)?.role === 'tool') return 'noted'
  return words.includes('all') ? call('ask_all_users', { message: 'Which day?' }) : 'heard'
}

interface Told {
  readonly asked: readonly string[]
  readonly people: readonly unknown[]
  readonly said: readonly string[]
  readonly appends: number
  readonly fired: boolean
}

/** What the people do next, as things are; false once there is nothing left to do. Whoever comes too late has been there before. */
async function act({ runtime }: Stage): Promise<boolean> {
  const found = (await runtime.listConversations()).items.length > 0
  if (!found) {
    await runtime.start({ agent: 'host', id, users: [{ id: 'anna' }, { id: 'bob' }] })
    return true
  }
  const { runs, interruptions, status } = await runtime.getConversation(id)
  const people = (await runtime.listParticipants(id)).items
  const say = (author: string, prompt: string) => runtime.run(id, { prompt, author, ifLastSeq: null })
  const isGone = people.some((one) => one.id === 'bob' && one.leftAt !== null)
  if (runs.length === 0) await say('anna', 'ask all')
  else if (status === 'running') return true
  else if (interruptions.some(({ addressee }) => addressee === 'anna'))
    await runtime.answerInterruption(interruptions.find(({ addressee }) => addressee === 'anna')?.id ?? '', {
      answer: 'Friday',
    })
  else if (!isGone) await runtime.removeParticipant(id, 'bob')
  else if (status === 'waiting') return true
  else if (!people.some((one) => one.id === 'carl')) await runtime.addParticipant(id, { id: 'carl', name: 'Carl' })
  else if (runs.length === 1) await say('carl', 'hello')
  else return false
  return true
}

async function until(stage: Stage, pass: () => void): Promise<void> {
  for (let round = 0; round < 3000; round += 1) {
    const more = await act(stage).catch((error: unknown) => {
      if (isWitanError(error) && ['NOT_FOUND', 'ALREADY_ANSWERED', 'RUN_FINISHED'].includes(error.code)) return true
      throw error
    })
    if (!more) return
    if (round % 50 === 49) pass()
    await settle(1)
  }
  throw new Error('I9: the people do not come to their end')
}

async function tell(at: number, moment: CrashMoment): Promise<Told> {
  const clock = fakeClock()
  const store = outliving(memoryStore({ now: clock.now }))
  const open = (from: Store) =>
    createStage({
      agents: [{ id: 'host', users: 'participants', anonymizeUsers: 'guest' }],
      plays: { host: rule },
      options: { store: from, clock, leaseMs },
    })
  const crashing = crashingStore(store, at, moment)
  const first = open(crashing.store)
  const pass = () => clock.advance(leaseMs + 1)
  const acted = until(first, pass).then(
    () => 'end' as const,
    () => 'crash' as const,
  )
  const fired = (await Promise.race([acted, crashing.crashed.then(() => 'crash' as const)])) === 'crash'
  let last = first
  if (fired) {
    pass()
    last = open(store)
    await last.runtime.ready
    await until(last, pass)
  }
  const events = await allEvents(last.runtime, id)
  assertSound(events, 8)
  const asked = [...first.requests, ...last.requests].map(({ messages, tools }) =>
    JSON.stringify([messages, tools.map(({ name, parameters }) => [name, parameters])]),
  )
  const people = (await last.runtime.listParticipants(id)).items.map((one) => [one.id, one.name, one.leftAt === null])
  const said = events.flatMap(({ type, author, content }) =>
    type === 'message' || type === 'participant' ? [JSON.stringify([type, author, content])] : [],
  )
  await last.runtime.close()
  return { asked: [...new Set(asked)].sort(), people, said, appends: crashing.appends(), fired }
}

test('[I1] [I9] [C6] [C36] a crash at any append while people speak, answer, join and leave', async (context) => {
  const calm = await tell(0, 'before')
  assert.deepEqual(calm.people, [
    ['anna', null, true],
    ['bob', null, false],
    ['carl', 'Carl', true],
  ])
  assert.equal(calm.asked.length, 3)
  assert.match(calm.asked.join(), /\[from @guest-0 to @host\] ask all/)
  assert.match(calm.asked.join(), /\[from @guest-2 to @host\] hello/)
  let fired = 0
  for (const moment of ['before', 'after'] as const) {
    for (let at = 1; at <= calm.appends; at += 1) {
      const told = await tell(at, moment)
      const where = `append ${at}, ${moment}`
      assert.deepEqual(told.people, calm.people, where)
      assert.deepEqual(told.said, calm.said, where)
      assert.deepEqual(told.asked, calm.asked, where)
      if (told.fired) fired += 1
    }
  }
  context.diagnostic(`${calm.appends * 2} trials, ${fired} faults fired, 0 violations`)
  assert.equal(fired, calm.appends * 2, 'I17: a fault did not fire')
})
