/** F01: `kill -9` at every fault point: at its first passing or a later one. */
import { randomInt } from 'node:crypto'
import { join } from 'node:path'
import { type FaultPoint, faultPointNames } from '@witan/core/testing'
import { type Arena, openArena, steadyLeaseMs } from '../rig/arena.ts'
import { type Doomed, isFulfilled, lift, newDoom } from '../rig/doom.ts'
import { patienceMs } from '../rig/patience.ts'
import type { Row } from '../rig/row.ts'
import { sideBySide } from '../rig/side-by-side.ts'
import { cancelStory, mainRuns, mainStory, slowRuns, slowStory, type Story, taskStory, tell } from '../rig/stories.ts'

/** How a point is reached: by a story, or by another death before it, or by an orderly stop. */
interface Way {
  readonly story: Story
  readonly first?: 'death' | 'stop' | undefined
}

/** A run passes most points three times and more; only these it passes once. */
const perRun = /^(request-accepted|interruption-opened|answered|resumed|parked|ended)/
const [oneRun, threeRuns] = [mainRuns(1), mainStory]

const ways: Readonly<Partial<Record<FaultPoint, Way>>> = {
  claimed: { story: oneRun, first: 'death' },
  'taken-over': { story: oneRun, first: 'death' },
  heartbeat: { story: slowStory },
  released: { story: slowStory, first: 'stop' },
  cancelled: { story: cancelStory },
  'cancelled-committed': { story: cancelStory },
}

function wayTo(point: FaultPoint): Way {
  const usual = perRun.test(point) ? threeRuns : oneRun
  return ways[point] ?? { story: /^(task|follow)-/.test(point) ? taskStory : usual }
}

/** What only a frozen worker passes is F03's. */
const elsewhere: ReadonlySet<FaultPoint> = new Set(['fenced'])

/** Every point that this row tries. */
export const triedPoints: readonly FaultPoint[] = faultPointNames.filter((name) => !elsewhere.has(name))

/** At which passing. Of every change each store tries one of these at each point, by chance; a release tries all on both. */
const steps = {
  pr: { sqlite: [1, 2], memory: [1], postgres: [1, 3] },
  full: { sqlite: [1, 2, 3], memory: [1, 2, 3], postgres: [1, 2, 3] },
} as const
const repeats = { pr: 1, full: 20 }
/** On SQLite nothing waits for a lease: who starts again has them all. */
const places = { sqlite: 2, memory: 1, postgres: 3 }
/** This row begins first, when the load says nothing yet of those that run beside it: a lease that lapses where nobody died would count as a try. */
const leaseMs = 2 * steadyLeaseMs
/** Which server comes by a point is chance, and so is when: a story that missed it is told again. */
const leastTries = 25

interface Trial {
  readonly point: FaultPoint
  readonly step: number
}

export const killAnywhere: Row = {
  id: 'F01',
  title: '`kill -9` at every fault point',
  stores: ['sqlite', 'postgres'],
  run({ lane, profile }) {
    const tried: readonly number[] = steps[profile][lane.name]
    const stepsAt = () => (profile === 'full' ? tried : tried.slice(randomInt(tried.length)).slice(0, 1))
    const once = triedPoints.flatMap((point) => stepsAt().map((step) => ({ point, step })))
    const trials = Array.from({ length: repeats[profile] }, () => once).flat()
    return sideBySide(lane, {
      places: places[lane.name],
      trials,
      async open(own) {
        const arena = await openArena(own, { leaseMs })
        const stories = [oneRun, threeRuns, cancelStory, slowStory, taskStory]
        const told = await Promise.all(stories.map((story) => tell(arena, story)))
        const calm = new Map(stories.map((story, index) => [story, told[index] as string]))
        return { play: (trial) => killAt(arena, trial, calm), finish: arena.finish }
      },
    })
  },
}

async function killAt(arena: Arena, { point, step }: Trial, calm: ReadonlyMap<Story, string>): Promise<void> {
  const { crew, lane, score } = arena
  const { story, first } = wayTo(point)
  const name = `${point}#${step}`
  const doom = newDoom(join(lane.folder, 'dooms'), deathsAt({ point, step }, first))
  score.intend()
  await score.trial(name, async () => {
    await crew.first()
    await crew.expect(doom)
    // The run that is stopped has just begun, and its model thinks for a while.
    const stop = slowRuns((part) => part === step && crew.servers[0]?.signal('SIGTERM'))
    const until = Date.now() + patienceMs
    for (let tries = 0; !isFulfilled(doom) && (tries < leastTries || Date.now() < until); tries += 1)
      score.twin(name, await tell(arena, first === 'stop' ? stop : story), calm.get(story) ?? '')
    if (isFulfilled(doom)) score.fire()
    else score.fail('I17', `no server came by ${name}`)
  })
  lift(doom)
}

/** A run is taken over where its owner died in the middle of it. */
function deathsAt({ point, step }: Trial, first: Way['first']): readonly Doomed[] {
  if (first === 'death')
    return [
      { point: 'effect-done', at: step },
      { point, at: 1 },
    ]
  return [{ point, at: first === 'stop' ? 1 : step }]
}
