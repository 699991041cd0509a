/** F05: the database's administrator ends all sessions, again and again, while runs go on. */
import { setTimeout as delay } from 'node:timers/promises'
import { openArena, steadyLeaseMs } from '../rig/arena.ts'
import type { Row } from '../rig/row.ts'
import { mainStory, tell } from '../rig/stories.ts'

/** Of three runs each. */
const stories = { pr: 17, full: 667 }
const atOnce = 6
const end =
  'select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and datname = current_database()'

export const droppedConnections: Row = {
  id: 'F05',
  title: 'every session ended at random moments',
  stores: ['postgres'],
  async run({ lane, profile }) {
    const arena = await openArena(lane, { leaseMs: steadyLeaseMs })
    const { crew, score } = arena
    const calm = await tell(arena, mainStory)
    let left = stories[profile]
    const going = { on: true }
    const killing = (async () => {
      while (going.on) {
        await delay(20 + Math.random() * 180)
        score.intend()
        await lane.execute(end)
        score.fire()
      }
    })()
    await Promise.all(
      Array.from({ length: atOnce }, async () => {
        while (left > 0) {
          left -= 1
          await score.trial('a story', async () => score.twin('a story', await tell(arena, mainStory), calm))
        }
      }),
    )
    going.on = false
    await killing
    score.count('runs', score.trials * 3)
    if (crew.deaths.length > 0) score.fail('I9', `${crew.deaths.length} servers did not stay up`)
    return arena.finish()
  },
}
