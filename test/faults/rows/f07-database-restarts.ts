/** F07: the database server is killed and started again while runs go on. */
import { setTimeout as delay } from 'node:timers/promises'
import { openArena, steadyLeaseMs } from '../rig/arena.ts'
import { openLaneAt } from '../rig/lane.ts'
import type { Row } from '../rig/row.ts'
import { mainStory, tell } from '../rig/stories.ts'
import { startServer } from '../../postgres/support/server.ts'

/** How long it is killed again and again: up for one to two seconds, down for up to two. */
const tormentMs = { pr: 20_000, full: 300_000 }
const atOnce = 3
/** Longer than it is ever down: a lease that lapses so counts as a try of its run. */
const leaseMs = steadyLeaseMs * 2

export const databaseRestarts: Row = {
  id: 'F07',
  title: 'the database server killed and started again',
  stores: ['postgres'],
  waits: true,
  async run({ profile }) {
    const server = await startServer({ fsync: true })
    const lane = await openLaneAt(server.url)
    const arena = await openArena(lane, { leaseMs, bounds: { recoveryMs: 15_000 } })
    const { score } = arena
    const calm = await tell(arena, mainStory)
    const going = { on: true }
    const telling = Promise.all(
      Array.from({ length: atOnce }, async () => {
        while (going.on)
          await score.trial('a story', async () => score.twin('a story', await tell(arena, mainStory), calm))
      }),
    )
    for (const until = Date.now() + tormentMs[profile]; Date.now() < until; ) {
      await delay(1_000 + Math.random() * 1_000)
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
