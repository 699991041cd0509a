/** What a row keeps count of: its trials, the faults that were meant and that fired, and what went wrong on the way. */
import type { Invariant, Violation } from './checker.ts'

/** The count of one row. */
export interface Score {
  readonly trials: number
  readonly intended: number
  readonly fired: number
  readonly counts: Readonly<Record<string, number>>
  readonly peaks: Readonly<Record<string, number>>
  /** What trials threw. */
  readonly mishaps: readonly Violation[]
  /** Pairs of conversations that must come to the same [I16]. */
  readonly twins: readonly { readonly name: string; readonly id: string; readonly calm: string }[]
  /** Runs a trial; what it throws is a violation, and the row goes on. */
  trial(name: string, act: () => Promise<void>): Promise<void>
  intend(faults?: number): void
  fire(faults?: number): void
  count(name: string, by?: number): void
  /** Keeps the highest of some figures. */
  most(name: string, figure: number): void
  twin(name: string, id: string, calm: string): void
  fail(invariant: Invariant, what: string): void
  /** What a server held before its load and after it [I15]. */
  held(baselineBytes: number, afterBytes: number): void
  readonly memory: readonly { readonly baselineBytes: number; readonly afterBytes: number }[]
}

/** A count that begins. */
export function newScore(): Score {
  const mishaps: Violation[] = []
  const twins: { readonly name: string; readonly id: string; readonly calm: string }[] = []
  const memory: { readonly baselineBytes: number; readonly afterBytes: number }[] = []
  const counts: Record<string, number> = {}
  const peaks: Record<string, number> = {}
  const sums = { trials: 0, intended: 0, fired: 0 }
  return {
    get trials() {
      return sums.trials
    },
    get intended() {
      return sums.intended
    },
    get fired() {
      return sums.fired
    },
    counts,
    peaks,
    mishaps,
    twins,
    async trial(name, act) {
      sums.trials += 1
      try {
        await act()
      } catch (error) {
        mishaps.push({ invariant: 'I9', what: `${name}: ${error instanceof Error ? error.message : String(error)}` })
      }
    },
    intend: (faults = 1) => {
      sums.intended += faults
    },
    fire: (faults = 1) => {
      sums.fired += faults
    },
    count: (name, by = 1) => {
      counts[name] = by + (counts[name] ?? 0)
    },
    most: (name, figure) => {
      peaks[name] = Math.max(figure, peaks[name] ?? 0)
    },
    twin: (name, id, calm) => twins.push({ name, id, calm }),
    fail: (invariant, what) => mishaps.push({ invariant, what }),
    held: (baselineBytes, afterBytes) => memory.push({ baselineBytes, afterBytes }),
    memory,
  }
}

/** Does all of them, so many beside each other; what one throws is thrown. */
export async function together<One, Made>(
  all: readonly One[],
  width: number,
  act: (one: One, index: number) => Promise<Made>,
): Promise<readonly Made[]> {
  const rest = all.entries()
  const made: Made[] = []
  const work = async (): Promise<void> => {
    for (const [index, one] of rest) made[index] = await act(one, index)
  }
  await Promise.all(Array.from({ length: width }, work))
  return made
}
