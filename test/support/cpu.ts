/**
 * What work costs this thread, for tests that bound it. Time that other processes take does not count. CPU still differs from play to
 * play (code that is compiled, garbage of tests before, a core that is shared), so what costs too much is played again, up to three times:
 * what the work itself costs comes back each time. A limit is meant for a machine that does the work of reference in 20 ms, and grows with
 * what that work takes when something cost too much.
 */
import assert from 'node:assert/strict'

/** In ms of CPU of this thread. */
interface Cost {
  /** All of it. */
  readonly total: number
  /** The longest stretch between two turns of the event loop. */
  readonly longest: number
}

const mostPlays = 3

/** What the work of reference takes at best, in ms of CPU of a thread. */
const referenceMs = 20

/** How much slower than the machine of reference this thread works now: 1 to 4. Costs about 150 ms. */
export function slowness(): number {
  let best = Number.POSITIVE_INFINITY
  for (let play = 0; play < 6; play += 1) {
    const began = cpuMs()
    doReferenceWork()
    best = Math.min(best, cpuMs() - began)
  }
  return Math.min(Math.max(best / referenceMs, 1), 4)
}

/** Objects, texts and JSON, as the runtime handles them. */
function doReferenceWork(): void {
  const rows = Array.from({ length: 20_000 }, (_, at) => ({ id: at, name: `row ${at % 97}`, of: [at, at * 2] }))
  const text = JSON.stringify(rows)
  for (let play = 0; play < 3; play += 1) {
    JSON.parse(text)
    text.replaceAll('row', 'r')
  }
}

/** Does the work, and fails where three plays in a row cost as much as a limit or more. Resolves with the result and cost of the last play. */
export async function assertCheap<Result>(
  limits: Partial<Cost>,
  work: () => Result | Promise<Result>,
  what = 'it',
): Promise<{ readonly result: Result } & Cost> {
  for (let play = 1; ; play += 1) {
    const cost = await costOf(work)
    if (tooDear(cost, limits) === null) return cost
    const scale = slowness()
    const dear = tooDear(cost, limits, scale)
    if (dear === null) return cost
    if (play === mostPlays)
      assert.fail(`${what} took ${dear}, on a machine ${scale.toFixed(1)} times as slow as that of reference`)
  }
}

/** Does the work once. */
async function costOf<Result>(work: () => Result | Promise<Result>): Promise<{ readonly result: Result } & Cost> {
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

function tooDear(cost: Cost, limits: Partial<Cost>, scale = 1): string | null {
  if (cost.total >= (limits.total ?? Number.POSITIVE_INFINITY) * scale) return `${Math.round(cost.total)} ms of CPU`
  if (cost.longest >= (limits.longest ?? Number.POSITIVE_INFINITY) * scale)
    return `${Math.round(cost.longest)} ms of CPU in one turn`
  return null
}

function cpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}
