/** F05: the database's administrator ends all sessions, again and again, while runs go on. */
import { setTimeout as delay } from 'node:timers/promises'
import { openArena } from '../rig/arena.ts'
import { heard } from '../rig/patience.ts'
import type { Row } from '../rig/row.ts'
import { mainStory, tell } from '../rig/stories.ts'

/** Of three runs each. */
const stories = { pr: 17, full: 667 }
const atOnce = 6
/** No server dies: a lease that lapses, since its sessions were ended again and again, would count as a try of its run. */
const leaseMs = 30_000
const end =
  'select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and datname = current_database()'

export const droppedConnections: Row = {
  id: 'F05',
  title: 'every session ended at random moments',
  stores: ['postgres'],
  async run({ lane, profile }) {
    const arena = await openArena(lane, { leaseMs })
    const { crew, history, score } = arena
    const calm = await tell(arena, mainStory)
    let left = stories[profile]
    const going = { on: true }
    const told = Promise.withResolvers<void>()
    const killing = (async () => {
      for (let kills = 1; going.on; kills += 1) {
        await delay(20 + Math.random() * 180)
        // Sessions that are ended faster than this machine opens them get nobody anywhere.
        if (kills % 3 === 0) await heard(history, 1, told.promise)
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
    told.resolve()
    await killing
    score.count('runs', score.trials * 3)
    if (crew.deaths.length > 0) score.fail('I9', `${crew.deaths.length} servers did not stay up`)
    return arena.finish()
  },
}
