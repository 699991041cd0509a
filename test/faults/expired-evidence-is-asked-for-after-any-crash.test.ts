/**
 * A person's run calls an agent of another Witan, whose evidence for the next server has expired when it goes on. The process between dies at any
 * append: the person is asked once, and nothing ever goes on without evidence, or twice.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { memoryStore, type RuntimeOptions, type Store } from '@witan/core'
import { call, scriptedModel, toolResults } from '@witan/core/testing'
import { type CrashMoment, crashingStore } from '../support/crashing-store.ts'
import { callerOf, playedRemote } from '../support/played-remote.ts'
import { agent } from '../support/stage.ts'
import { atEachAppend, realPlaces } from './support/places.ts'
import { openSide, runtimeOf, type Side } from './support/web-of-two.ts'

const after: NonNullable<RuntimeOptions['clock']>['after'] = (ms, run) => {
  const timer = setTimeout(run, ms)
  return () => clearTimeout(timer)
}
/** The clock of the person's server is behind at first: what it signs has just expired where it comes in, within the skew of a minute. */
const behindMs = 330_000

interface Between {
  /** Whether each message to the last server could be made from evidence that had not expired. */
  readonly carried: boolean[]
  readonly last: ReturnType<typeof playedRemote>
  open(store: Store): ReturnType<typeof runtimeOf>
}

function between(side: Side, others: readonly Side[]): Between {
  const carried: boolean[] = []
  const clock = { now: () => Date.now(), after }
  const last = playedRemote(() => ({ state: 'COMPLETED', parts: [{ text: 'In the cellar.' }] }), { isIdempotent: true })
  const remotes = callerOf(last, {
    ...{ clock, isIdempotent: true },
    async sign({ caller, isMessage }) {
      const { evidence, renewed } = caller?.principal.incoming ?? {}
      if (isMessage) carried.push(((renewed ?? evidence?.[0])?.expiresAt ?? 0) > Date.now())
      return { bearer: null, metadata: {}, extensions: [] }
    },
  })
  const model = scriptedModel((request) => toolResults(request)[0] ?? call('docs', { message: 'where' }))
  const docs = { name: 'docs', address: '@docs@c.test', description: 'Knows.' }
  const desk = agent('desk', { address: 'desk', access: { call: ['@*@a.test'] }, remotes: [docs] })
  const open = (store: Store) =>
    runtimeOf(side, others, { store, clock, remotes, leaseMs: 400, models: { 'play/model': model }, agents: [desk] })
  return { carried, last, open }
}

/** What came of one trial. */
interface Told {
  readonly fired: boolean
  readonly text: string
  readonly asked: number
  readonly of: Between
}

async function tell(store: Store, at: number, moment: CrashMoment): Promise<Told> {
  const sides: Side[] = []
  sides.push(...(await Promise.all(['a.test', 'b.test'].map((domain) => openSide(domain, () => sides)))))
  const [front, middle] = sides as [Side, Side]
  let behind = behindMs
  const model = scriptedModel((request) => toolResults(request)[0] ?? call('desk', { message: 'where' }))
  const desk = { name: 'desk', address: '@desk@b.test', description: 'Knows.' }
  const person = runtimeOf(front, sides, {
    ...{ store: memoryStore(), clock: { now: () => Date.now() - behind, after }, models: { 'play/model': model } },
    agents: [agent('front', { address: 'front', remotes: [desk] })],
  })
  front.lead(person)
  const of = between(middle, sides)
  const first = crashingStore(store, at, moment)
  let process = of.open(first.store)
  await process.ready
  middle.lead(process)
  let fired = false
  void first.crashed.then(async () => {
    fired = true
    middle.lead(null)
    process = of.open(store)
    await process.ready
    middle.lead(process)
  })
  const { id, run } = await person.start({ agent: 'front', prompt: 'go', id: 'chats/1' })
  let isOver = false
  void run?.result.then(({ status }) => (isOver = status !== 'waiting'))
  while (!isOver) {
    await delay(10)
    const { interruptions, status } = await person.getConversation(id)
    isOver ||= status === 'idle'
    const [open] = interruptions
    if (open === undefined) continue
    assert.deepEqual([open.kind, open.kind === 'policy' && open.policy['code']], ['policy', 'EVIDENCE_EXPIRED'])
    behind = 0
    await person.answerInterruption(open.id, { answer: { resolution: {} } }).catch(() => undefined)
  }
  const { events } = await person.readEvents(id, { verbose: true })
  const { result } = await person.getRun(run?.runId ?? '')
  await Promise.all([person.close(), process.close()])
  for (const side of sides) await side.close()
  const asked = events.filter(({ type }) => type === 'policy_required').length
  return { fired, text: result?.text ?? '', asked, of }
}

/** A trial takes a second; on other stores they are made with `WITAN_TESTS=all`. */
const stores = process.env['WITAN_TESTS'] === 'all' ? Object.keys(realPlaces) : ['SQLite']

for (const name of stores)
  for (const moment of ['before', 'after'] as const)
    test(`[E22] [D1] [M21] a server between dies ${moment} any append, ${name}`, async (context) => {
      const fired = await atEachAppend(
        name,
        async (at) => {
          const place = await realPlaces[name]?.(context)
          if (place === undefined) throw new Error('no such store')
          const { text, asked, of, fired } = await tell(place.store, at, moment)
          await place.close()
          assert.equal(text, 'In the cellar.', `append ${at}`)
          assert.equal(asked, 1, `append ${at}: the person was asked ${asked} times`)
          assert.ok(of.carried.length > 0 && of.carried.every((one) => one), `append ${at}: ${of.carried}`)
          assert.equal(of.last.tasks.length, 1, `append ${at}`)
          return fired
        },
        5,
      )
      context.diagnostic(`${name}: ${fired} faults fired, 0 violations`)
      assert.ok(fired > 6, `I17: only ${fired} faults fired`)
    })
