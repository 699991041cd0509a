/** F13: servers are stopped in order under load, one after the other, as a deployment does; nothing counts as a crash. */
import { setTimeout as delay } from 'node:timers/promises'
import { openArena } from '../rig/arena.ts'
import type { Row } from '../rig/row.ts'
import { mainStory, slowStory, tell } from '../rig/stories.ts'

/** How often all servers are replaced. */
const rolls = { pr: { sqlite: 3, postgres: 2, memory: 0 }, full: { sqlite: 30, postgres: 15, memory: 0 } }
const workers = { sqlite: 1, postgres: 3, memory: 1 } as const
/** In which a server must stop; how late the machine was is added. */
const withinMs = 10_000
const restMs = 400

export const orderlyStop: Row = {
  id: 'F13',
  title: 'SIGTERM under load, one server after the other',
  stores: ['sqlite', 'postgres'],
  async run({ lane, profile }) {
    const servers = workers[lane.name]
    // Long enough that no lease lapses by itself on a machine that has other things to do.
    const arena = await openArena(lane, { leaseMs: 5_000, servers })
    const { crew, noise, score } = arena
    const stories = [mainStory, slowStory]
    const calm = [await tell(arena, mainStory), await tell(arena, slowStory)]
    const going = { on: true }
    const telling = Promise.all(
      [0, 1, 0, 1].map(async (which) => {
        const story = stories[which] ?? mainStory
        while (going.on) {
          score.count('stories meanwhile')
          score.twin('a story', await tell(arena, story), calm[which] ?? '')
        }
      }),
    )
    for (let roll = 0; roll < rolls[profile][lane.name]; roll += 1) {
      await score.trial('a deployment', async () => {
        for (let stopped = 0; stopped < servers; stopped += 1) {
          await delay(restMs)
          score.intend()
          const took = await (await crew.first()).stop()
          score.fire()
          score.most('slowest stop ms', took)
          if (took > withinMs + noise.worst()) score.fail('I9', `a server took ${took} ms to stop`)
        }
      })
    }
    going.on = false
    await telling
    const wrong = crew.deaths.filter(({ how }) => how !== 0)
    if (wrong.length > 0) score.fail('I9', `${wrong.length} servers ended with ${wrong[0]?.how}, not in order`)
    const result = await arena.finish()
    const crashes = result.recoveriesMs.length
    if (crashes === 0) return result
    const what = `${crashes} orderly stops count as crashes`
    return { ...result, violations: [...result.violations, { invariant: 'I9', what }] }
  },
}
