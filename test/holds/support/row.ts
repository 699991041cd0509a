/** One input that an outsider could send, and what is opened to play it. */
import { slowness } from '../../support/cpu.ts'
import { openOutside, type Outside } from './outside.ts'

/** What a play of a row is given. */
export interface Play {
  /** 0, 1, 2: an input that a cache may know from the play before holds this number. */
  readonly number: number
  /** Servers and clients in a thread of their own, whose work is not measured. */
  readonly outside: Outside
  /** Closes something after the play. The last one opened closes first. */
  after(close: () => unknown): void
}

/** The part of a play that is measured. */
export type Act = () => Promise<unknown>

/** A hostile input. */
export interface Row {
  /** What the outsider sends. Unique. */
  readonly name: string
  /** Opens what is needed and returns the act. */
  readonly setUp: (play: Play) => Act | Promise<Act>
}

/** The longest turn of the loop in a play of a row, and the whole play, in ms of CPU of this thread. */
export interface Measured {
  readonly name: string
  readonly longest: number
  readonly whole: number
  /** What a turn may take: `mostMs`, and more on a machine that is slower than that of reference. */
  readonly limit: number
}

type Watched = Pick<Measured, 'longest' | 'whole'>

/** A turn may take 50 ms of CPU. Some kernels count the CPU of a thread in ticks of 4 ms, so one tick more is none. */
const mostMs = 54

/**
 * Plays a row until a play stays below the limit, up to so often; the play whose longest turn is the shortest counts, because a hold of
 * the input itself comes back every time.
 */
export async function measure(row: Row, plays: number): Promise<Measured> {
  let best: Measured | null = null
  for (let number = 0; number < plays; number += 1) {
    const { longest, whole } = await playOnce(row, number)
    const limit = longest < mostMs ? mostMs : mostMs * slowness()
    if (best === null || longest / limit < best.longest / best.limit) best = { name: row.name, longest, whole, limit }
    if (best.longest < best.limit) break
  }
  return best as Measured
}

async function playOnce(row: Row, number: number): Promise<Watched> {
  const closers: (() => unknown)[] = []
  const outside = openOutside()
  closers.push(() => outside.close())
  try {
    const act = await row.setUp({ number, outside, after: (close) => void closers.push(close) })
    return await watched(act)
  } finally {
    for (const close of closers.reverse()) await close()
  }
}

function cpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}

/** Looks at the CPU of this thread once in each turn while an act runs, and for some turns after it. */
async function watched(act: Act): Promise<Watched> {
  let [longest, last, left] = [0, 0, Number.POSITIVE_INFINITY]
  const over = Promise.withResolvers<void>()
  const look = () => {
    const now = cpuMs()
    longest = Math.max(longest, now - last)
    last = now
    left -= 1
    if (left > 0) setImmediate(look)
    else over.resolve()
  }
  // Garbage of the set-up is collected now: a turn pays only for its own.
  globalThis.gc?.()
  await new Promise((resolve) => setImmediate(resolve))
  const began = cpuMs()
  last = began
  setImmediate(look)
  try {
    await act()
  } finally {
    left = 20
  }
  await over.promise
  return { longest, whole: cpuMs() - began }
}
