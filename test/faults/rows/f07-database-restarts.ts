/** F07: the database server is killed and started again while runs go on. */
import { setTimeout as delay } from 'node:timers/promises'
import { openArena } from '../rig/arena.ts'
import { openLaneAt } from '../rig/lane.ts'
import { heard } from '../rig/patience.ts'
import type { Row } from '../rig/row.ts'
import { mainStory, tell } from '../rig/stories.ts'
import { startServer } from '../../postgres/support/server.ts'

/** How often it is killed: up for one to two seconds in which something is told, down for up to two. */
const kills = { pr: 6, full: 90 }
const atOnce = 3
/** Longer than it is ever down, however long it takes to start: a lease that lapses so counts as a try of its run. */
const leaseMs = 30_000

export const databaseRestarts: Row = {
  id: 'F07',
  title: 'the database server killed and started again',
  stores: ['postgres'],
  async run({ profile }) {
    const server = await startServer({ fsync: true })
    const lane = await openLaneAt(server.url)
    const arena = await openArena(lane, { leaseMs })
    const { history, score } = arena
    const calm = await tell(arena, mainStory)
    const going = { on: true }
    const telling = Promise.all(
      Array.from({ length: atOnce }, async () => {
        while (going.on)
          await score.trial('a story', async () => score.twin('a story', await tell(arena, mainStory), calm))
      }),
    )
    for (let kill = 0; kill < kills[profile]; kill += 1) {
      await delay(1_000 + Math.random() * 1_000)
      await heard(history, 1, telling)
      score.intend()
      await server.stop('immediate')
      await delay(Math.random() * 2_000)
      await server.start()
      score.fire()
    }
    going.on = false
    await telling
    score.count('runs', score.trials * 3)
    const result = await arena.finish()
    await lane.close()
    await server.stop('immediate')
    return result
  },
}
