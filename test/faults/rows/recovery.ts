/** REC: how soon the run of a dead worker goes on, with the lease that everybody has by default. */
import { openArena } from '../rig/arena.ts'
import type { Row } from '../rig/row.ts'
import { effectStory, tell } from '../rig/stories.ts'

const trials = { pr: 1, full: 10 }
const defaultLeaseMs = 15_000
const boundMs = 18_000

export const defaultRecovery: Row = {
  id: 'REC',
  title: 'the default lease of 15 s: a dead worker’s run goes on elsewhere',
  stores: ['postgres'],
  waits: true,
  async run({ lane, profile }) {
    const arena = await openArena(lane, { leaseMs: defaultLeaseMs, bounds: { recoveryMs: boundMs } })
    const { crew, score } = arena
    const calm = await tell(arena, effectStory)
    for (let trial = 0; trial < trials[profile]; trial += 1) {
      await score.trial('a takeover', async () => {
        score.intend()
        const server = await crew.first()
        await server.arm('effect-done#1:kill9')
        const told = tell(arena, effectStory)
        await server.gone
        score.fire()
        score.twin('a takeover', await told, calm)
      })
    }
    return arena.finish()
  },
}
