/** Where the log of a run is whose process dies: in memory, in a file, or on a PostgreSQL server; and how time passes there. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { memoryStore, postgresStore, type RuntimeOptions, sqliteStore, type Store } from '@witan/core'
import { emptySchema } from '../../postgres/support/stores.ts'
import { fakeClock, type FakeClock } from '../../support/clock.ts'
import { outliving } from '../../support/reopen.ts'
import { settle } from '../../support/stage.ts'

export interface Place {
  readonly store: Store
  /** Null for the time of the machine. */
  readonly clock: FakeClock | null
  readonly timing: Required<Pick<RuntimeOptions, 'clock' | 'leaseMs'>>
  /** Lets the others work, now and then for longer. */
  pass(round: number): Promise<void>
  /** Until a call of a process that may be dead counts as lost. */
  patience(): Promise<null>
  close(): Promise<void>
}

const realTime = {
  now: () => Date.now(),
  after(ms: number, run: () => void) {
    const timer = setTimeout(run, ms)
    return () => clearTimeout(timer)
  },
}

function onFakeTime(open: (now: () => number) => Store): Place {
  const clock = fakeClock()
  const store = open(clock.now)
  const pass = async (round: number) => {
    await settle(3)
    if (round % 10 === 9) clock.advance(5_000)
  }
  const patience = () => settle(20).then(() => null)
  const timing = { clock, leaseMs: 15_000 }
  return { store: outliving(store), clock, timing, pass, patience, close: () => store.close() }
}

let folder: string | null = null
let files = 0

function fileIn(): string {
  if (folder === null) {
    const made = mkdtempSync(join(tmpdir(), 'witan-places-'))
    process.once('exit', () => rmSync(made, { recursive: true, force: true }))
    folder = made
  }
  files += 1
  return join(folder, `${files}.db`)
}

function onRealTime(store: Store): Place {
  const timing = { clock: realTime, leaseMs: 400 }
  const patience = () => settle(20).then(() => delay(200, null))
  return { store: outliving(store), clock: null, timing, pass: () => delay(10), patience, close: () => store.close() }
}

type Places = Readonly<Record<string, (context: TestContext) => Place | Promise<Place>>>

/** All of them in the time of the machine, for what talks with others. */
export const realPlaces: Places = {
  memory: () => onRealTime(memoryStore()),
  SQLite: () => onRealTime(sqliteStore({ file: fileIn(), synchronous: 'normal' })),
  PostgreSQL: async (context) => onRealTime(postgresStore(await emptySchema(context))),
}

export const places: Places = {
  ...realPlaces,
  memory: () => onFakeTime((now) => memoryStore({ now })),
  SQLite: () => onFakeTime((now) => sqliteStore({ file: fileIn(), synchronous: 'normal', now })),
}

/** On PostgreSQL a trial takes a second, most of which is waiting. */
const trialsAtOnce = (name: string) => (name === 'PostgreSQL' ? 5 : 1)

/** Tries the second append, and the third, until a process has come to its end. Gives how many have died. */
export async function atEachAppend(
  name: string,
  isFired: (at: number) => Promise<boolean>,
  count = trialsAtOnce(name),
): Promise<number> {
  const fired: boolean[] = []
  while (!fired.includes(false)) {
    const next = 2 + fired.length
    const trials = Array.from({ length: count }, (_, more) => isFired(next + more))
    fired.push(...(await Promise.all(trials)))
  }
  return fired.filter((one) => one).length
}
