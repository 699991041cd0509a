/** REC: how soon the run of a dead worker goes on, with the lease that everybody has by default. */
import { join } from 'node:path'
import { openArena } from '../rig/arena.ts'
import { isFulfilled, newDoom } from '../rig/doom.ts'
import type { Row } from '../rig/row.ts'
import { effectStory, tell } from '../rig/stories.ts'

const trials = { pr: 1, full: 10 }
const defaultLeaseMs = 15_000
const boundMs = 18_000

export const defaultRecovery: Row = {
  id: 'REC',
  title: 'the default lease of 15 s: a dead worker’s run goes on elsewhere',
  stores: ['postgres'],
  async run({ lane, profile }) {
    const arena = await openArena(lane, { leaseMs: defaultLeaseMs, bounds: { recoveryMs: boundMs } })
    const { crew, score } = arena
    const calm = await tell(arena, effectStory)
    for (let trial = 0; trial < trials[profile]; trial += 1) {
      await score.trial('a takeover', async () => {
        score.intend()
        const doom = newDoom(join(lane.folder, 'dooms'), [{ point: 'effect-done', at: 1 }])
        await crew.expect(doom)
        score.twin('a takeover', await tell(arena, effectStory), calm)
        if (isFulfilled(doom)) score.fire()
      })
    }
    return arena.finish()
  },
}
