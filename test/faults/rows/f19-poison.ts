/** F19: a run that breaks its worker each time is set aside with its reason, and the run beside it comes to what it would come to alone. */
import { openArena } from '../rig/arena.ts'
import type { Row } from '../rig/row.ts'
import { mainStory, tell } from '../rig/stories.ts'

/** How often on each store. */
const trials = { pr: { sqlite: 3, postgres: 2, memory: 0 }, full: { sqlite: 10, postgres: 10, memory: 0 } }
const mostAttempts = 3
/** On SQLite nothing waits for it. A lease that lapses is a try without a death: where a machine is busy, it must not. */
const leaseMs = { sqlite: 15_000, postgres: 4_000, memory: 0 }

export const poison: Row = {
  id: 'F19',
  title: 'a run that kills its worker on every attempt, and an innocent one',
  stores: ['sqlite', 'postgres'],
  async run({ lane, profile }) {
    const arena = await openArena(lane, { leaseMs: leaseMs[lane.name] })
    const { crew, score, client } = arena
    const calm = await tell(arena, mainStory)
    for (let trial = 0; trial < trials[profile][lane.name]; trial += 1) {
      await score.trial('poison', async () => {
        const before = crew.deaths.length
        score.intend(mostAttempts)
        const innocent = tell(arena, mainStory)
        await tell(arena, async (_, id) => {
          await client.say(id, 'bad:exit #1')
          await client.untilRest(id)
          const events = await client.events(id)
          const code = events.findLast(({ type }) => type === 'error')?.content['code']
          if (code !== 'RUN_QUARANTINED') throw new Error(`the poisonous run ended with ${String(code)}`)
        })
        const deaths = crew.deaths.length - before
        score.fire(Math.min(deaths, mostAttempts))
        if (deaths > mostAttempts) score.fail('I9', `it killed ${deaths} workers`)
        score.twin('the run beside it', await innocent, calm)
      })
    }
    return arena.finish()
  },
}
