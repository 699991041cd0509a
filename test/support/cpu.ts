/**
 * What work costs this thread, for tests that bound it. Time that other processes take does not count. CPU still differs from play to
 * play (code that is compiled, garbage of tests before, a core that is shared), so what costs too much is played again, up to three times:
 * what the work itself costs comes back each time.
 */
import assert from 'node:assert/strict'

/** In ms of CPU of this thread. */
export interface Cost {
  /** All of it. */
  readonly total: number
  /** The longest stretch between two turns of the event loop. */
  readonly longest: number
}

const mostPlays = 3

/** Does the work, and fails where three plays in a row cost as much as a limit or more. Resolves with the result and cost of the last play. */
export async function assertCheap<Result>(
  limits: Partial<Cost>,
  work: () => Result | Promise<Result>,
  what = 'it',
): Promise<{ readonly result: Result } & Cost> {
  for (let play = 1; ; play += 1) {
    const cost = await costOf(work)
    const dear = tooDear(cost, limits)
    if (dear === null) return cost
    if (play === mostPlays) assert.fail(`${what} took ${dear}`)
  }
}

/** Does the work once. */
export async function costOf<Result>(
  work: () => Result | Promise<Result>,
): Promise<{ readonly result: Result } & Cost> {
  let [longest, isOver] = [0, false]
  const began = cpuMs()
  let last = began
  const look = () => {
    const now = cpuMs()
    longest = Math.max(longest, now - last)
    last = now
    if (!isOver) setImmediate(look)
  }
  setImmediate(look)
  try {
    const result = await work()
    look()
    return { result, total: last - began, longest }
  } finally {
    isOver = true
  }
}

function tooDear(cost: Cost, limits: Partial<Cost>): string | null {
  if (cost.total >= (limits.total ?? Number.POSITIVE_INFINITY)) return `${Math.round(cost.total)} ms of CPU`
  if (cost.longest >= (limits.longest ?? Number.POSITIVE_INFINITY))
    return `${Math.round(cost.longest)} ms of CPU in one turn`
  return null
}

function cpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}
