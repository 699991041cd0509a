/** The process dies at its n-th append, for every n; the next one goes on, and all ends as if nothing had been. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { memoryStore, type Runtime, sqliteStore, type Store } from '@witan/core'
import { fakeClock } from '../support/clock.ts'
import { type CrashMoment, crashingStore } from '../support/crashing-store.ts'
import { outliving } from '../support/reopen.ts'
import { assertHistories, newLedger, nextStep, openStory, readEnding } from './support/story.ts'

const folder = mkdtempSync(join(tmpdir(), 'witan-crash-'))
after(() => rmSync(folder, { recursive: true, force: true }))
let files = 0

/** A place that keeps what was stored: `reopen` gives the store that the next process would open. */
interface Place {
  open(): Store
  /** What the death of a process lets go. */
  release(): Promise<void>
}

function memoryPlace(now: () => number): Place {
  const store = outliving(memoryStore({ now }))
  return { open: () => store, release: async () => {} }
}

function sqlitePlace(now: () => number): Place {
  const file = join(folder, `${++files}.db`)
  let store: Store | null = null
  return {
    open: () => {
      store = sqliteStore({ file, synchronous: 'normal', now })
      return store
    },
    release: async () => store?.close(),
  }
}

const places = { memory: memoryPlace, sqlite: sqlitePlace }
const leaseMs = 15_000

/** Steps until the end or the crash. */
async function tellUntilCrash(runtime: Runtime, crashed: Promise<void>): Promise<'end' | 'crash'> {
  const crash = crashed.then(() => 'crash' as const)
  for (let round = 0; round < 3000; round += 1) {
    const step = await Promise.race([nextStep(runtime), crash])
    if (step === 'crash') return 'crash'
    if (step) return 'end'
  }
  throw new Error('I9: the story does not come to its end')
}

/** Dies at the appends of `deaths` in turn, each counted from the start of its process. */
async function tellWithDeaths(name: keyof typeof places, deaths: readonly number[], moment: CrashMoment) {
  const clock = fakeClock()
  const place = places[name](clock.now)
  const ledger = newLedger()
  const requests: Parameters<typeof assertHistories>[0] = []
  const reports: unknown[] = []
  let fired = 0
  for (const at of [...deaths, 0]) {
    const inner = place.open()
    const crashing = crashingStore(inner, at, moment)
    const story = openStory(crashing.store, ledger, clock)
    if ((await tellUntilCrash(story.runtime, crashing.crashed)) === 'crash') fired += 1
    else if (at === 0) {
      const ending = await readEnding(story.runtime, inner)
      await story.runtime.close()
      await place.release()
      assertHistories([...requests, ...story.requests])
      assert.deepEqual([...reports, ...story.reports], [])
      return { ending, fired, ledger, appends: crashing.appends() }
    }
    requests.push(...story.requests)
    reports.push(...story.reports)
    await place.release()
    clock.advance(leaseMs + 1)
  }
  throw new Error('the last process did not come to the end')
}

for (const name of ['memory', 'sqlite'] as const) {
  test(`[I1] [I2] [I3] [I6] [I7] [I11] [I16] a crash at any append, ${name}`, async (context) => {
    const calm = await tellWithDeaths(name, [], 'before')
    let trials = 0
    let fired = 0
    let repeated = 0
    for (const moment of ['before', 'after'] as const) {
      for (let at = 1; at <= calm.appends; at += 1) {
        const told = await tellWithDeaths(name, [at], moment)
        assert.deepEqual(told.ending, calm.ending, `I16: append ${at}, ${moment}`)
        for (const [id, times] of told.ledger.executed) if (id.startsWith('keyed') && times > 1) repeated += 1
        assert.equal(told.ledger.applied.size, calm.ledger.applied.size, 'I5: not each call applied once')
        trials += 1
        fired += told.fired
      }
    }
    context.diagnostic(
      `${name} ${trials} trials, ${fired} faults fired, 0 violations, ${repeated} keyed calls repeated`,
    )
    assert.equal(fired, trials, 'I17: a fault did not fire')
    assert.ok(calm.appends >= 8, `only ${calm.appends} appends`)
    assert.ok(repeated > 0, 'I17: no keyed call was cut off')
  })

  test(`[I9] [I16] a second crash soon after the first, ${name}`, async (context) => {
    const calm = await tellWithDeaths(name, [], 'before')
    let fired = 0
    let trials = 0
    for (let at = 1; at < calm.appends; at += 1) {
      const told = await tellWithDeaths(name, [at, 1 + (at % 2)], at % 2 === 0 ? 'before' : 'after')
      assert.deepEqual(told.ending, calm.ending, `I16: append ${at}`)
      trials += 1
      fired += told.fired
    }
    context.diagnostic(`${name} ${trials} trials, ${fired} faults fired, 0 violations`)
    assert.ok(fired >= trials * 1.8, `I17: only ${fired} faults fired in ${trials} trials of two`)
  })
}

test('[I16] both stores tell the same story', async () => {
  const [memory, sqlite] = [await tellWithDeaths('memory', [], 'before'), await tellWithDeaths('sqlite', [], 'before')]
  assert.deepEqual(sqlite.ending, memory.ending)
})
