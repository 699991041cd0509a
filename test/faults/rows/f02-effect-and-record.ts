/** F02: the process dies between an effect and its record, for each class of effect. */
import { join } from 'node:path'
import { type Arena, openArena } from '../rig/arena.ts'
import { isFulfilled, lift, newDoom } from '../rig/doom.ts'
import type { Row } from '../rig/row.ts'
import { sideBySide } from '../rig/side-by-side.ts'
import { effectStory, tell } from '../rig/stories.ts'

/** One of each class, and then all three at once. */
const effects = 6
const mostTries = 10
const repeats = { pr: 5, full: 50 }
/** On SQLite nothing waits for a lease: who starts again has them all. */
const places = { sqlite: 2, memory: 1, postgres: 3 }

export const effectAndRecord: Row = {
  id: 'F02',
  title: 'a crash between an effect and its record',
  stores: ['sqlite', 'postgres'],
  run({ lane, profile }) {
    const trials = Array.from({ length: repeats[profile] * effects }, (_, trial) => 1 + (trial % effects))
    return sideBySide(lane, {
      places: places[lane.name],
      trials,
      async open(own) {
        const arena = await openArena(own)
        const calm = await tell(arena, effectStory)
        return { play: (at) => dieAfter(arena, at, calm), finish: arena.finish }
      },
    })
  },
}

async function dieAfter(arena: Arena, at: number, calm: string): Promise<void> {
  const { crew, lane, score } = arena
  const doom = newDoom(join(lane.folder, 'dooms'), [{ point: 'effect-done', at }])
  score.intend()
  await score.trial(`effect ${at}`, async () => {
    await crew.first()
    await crew.expect(doom)
    // A run that was taken over, since its owner got no processor, has its effects in two processes: then it is told again.
    for (let tries = 0; tries < mostTries && !isFulfilled(doom); tries += 1)
      score.twin(`effect ${at}`, await tell(arena, effectStory), calm)
    if (isFulfilled(doom)) score.fire()
  })
  lift(doom)
}
