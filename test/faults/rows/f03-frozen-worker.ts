/** F03: a worker is frozen past its lease, another takes over, and then it goes on where it was. */
import { readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import type { FaultPoint } from '@witan/core/testing'
import { type Arena, openArena, steadyLeaseMs } from '../rig/arena.ts'
import type { Row } from '../rig/row.ts'
import { sideBySide } from '../rig/side-by-side.ts'
import { effectStory, longStory, type Story, tell } from '../rig/stories.ts'

/** Where it freezes: also with an append half on its way, and just after one. */
const points: readonly FaultPoint[] = [
  'model-request',
  'model-reply-recorded',
  'model-reply-committed',
  'tool-started',
  'tool-started-committed',
  'effect-done',
  'tool-ended',
  'tool-ended-committed',
  'ended',
  'heartbeat',
]

/** A freeze at the so-manieth passing of a point, for so long. */
interface Trial {
  readonly point: FaultPoint
  readonly at: number
  readonly frozenMs: number
}

const untilTakenMs = steadyLeaseMs * 1.5
/** A transaction that is silent is ended after 3 s; before that nobody gets past its locks. */
const untilEndedMs = 3_000 + untilTakenMs

const outside: readonly Trial[] = points.flatMap((point) =>
  [1, 2, 1].map((at) => ({ point, at: point === 'ended' ? 1 : at, frozenMs: untilTakenMs })),
)
/** With its locks held: until the database ends the transaction, or only until the lease has lapsed. */
const inside: readonly Trial[] = [5, 6, 7, 8, 9].flatMap((at) =>
  [untilEndedMs, untilTakenMs].map((frozenMs) => ({ point: 'committing' as const, at, frozenMs })),
)
const repeats = { pr: 1, full: 10 }
const places = 5

export const frozenWorker: Row = {
  id: 'F03',
  title: 'SIGSTOP past the lease, a takeover, SIGCONT',
  stores: ['postgres'],
  async run({ lane, profile }) {
    const once = [...inside, ...outside]
    const result = await sideBySide(lane, {
      places,
      trials: Array.from({ length: repeats[profile] }, () => once).flat(),
      async open(own) {
        const arena = await openArena(own, { leaseMs: steadyLeaseMs })
        const stories = [effectStory, longStory]
        const told = await Promise.all(stories.map((story) => tell(arena, story)))
        const calm = new Map(stories.map((story, index) => [story, told[index] as string]))
        const finish = () => {
          arena.score.count('late writes refused', arena.crew.said().filter(isRefusal).length)
          return arena.finish()
        }
        return { play: (trial) => freezeAt(arena, trial, calm), finish }
      },
    })
    if ((result.counts['late writes refused'] ?? 0) > 0) return result
    const vacuous = { invariant: 'I17', what: 'no late write was refused' } as const
    return { ...result, violations: [...result.violations, vacuous] }
  },
}

const isRefusal = (line: string): boolean => line.includes('fault point fenced')

/** Which server comes by a point is chance: a story that another one took is told again. */
const mostTries = 20

async function freezeAt(arena: Arena, { point, at, frozenMs }: Trial, calm: ReadonlyMap<Story, string>): Promise<void> {
  const { crew, score } = arena
  const story = point === 'heartbeat' ? longStory : effectStory
  score.intend()
  await score.trial(`${point}#${at}`, async () => {
    let isFrozen = false
    for (let tries = 0; tries < mostTries && !isFrozen; tries += 1) {
      const frozen = await crew.first()
      const tells = [1, 2, 3].map((times) => `fenced#${times}:tell`).join(',')
      await frozen.arm(`${point}#${at}:stop,${tells}`)
      const told = tell(arena, story)
      // The client is told of nothing by a frozen server: it goes to the next.
      isFrozen = await untilFrozen(frozen.pid, told)
      crew.avoid(frozen)
      if (isFrozen) await delay(frozenMs)
      frozen.signal('SIGCONT')
      score.twin(`${point}#${at}`, await told, calm.get(story) ?? '')
      await delay(300)
      await frozen.arm('')
      crew.avoid(null)
    }
    if (isFrozen) score.fire()
    else score.fail('I17', `no server came by ${point}#${at}`)
  })
}

/** Whether the process stands still before the story is told, as the operating system sees it. */
async function untilFrozen(pid: number, told: Promise<unknown>): Promise<boolean> {
  let isTold = false
  const end = () => {
    isTold = true
  }
  told.then(end, end)
  for (;;) {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
    if (/\) T /.test(stat)) return true
    if (isTold) return false
    await delay(5)
  }
}
