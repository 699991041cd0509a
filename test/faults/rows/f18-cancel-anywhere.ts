/** F18: a tree is cancelled at every event of it: three levels, children side by side, a task, and a tool that ignores its abort. */
import type { AnyEvent } from '@witan/protocol'
import { type Arena, openArena } from '../rig/arena.ts'
import { answerAll } from '../rig/client.ts'
import type { Row } from '../rig/row.ts'
import { together } from '../rig/score.ts'
import { tell, untilIdle } from '../rig/stories.ts'

/** How often on each store, and how many at once. */
const trials = { pr: 40, full: 750 }
const beside = 6
/** A model may still be asked for this many ms after a cancel, and for as long as the machine is late. A run that missed its cancel asks on and on. */
const graceMs = 750
const tree = 'clerk:book mid:leaf:book,read+leaf:act+bad:late pay'
/** So many events it has. */
const length = 42

export const cancelAnywhere: Row = {
  id: 'F18',
  title: 'a cancel at every event of a tree',
  stores: ['sqlite', 'postgres'],
  async run({ lane, profile }) {
    const arena = await openArena(lane, { bounds: { graceMs } })
    // One store takes the even events, the other the odd ones; then the other way round.
    const first = lane.name === 'sqlite' ? 1 : 2
    const events = Array.from({ length: trials[profile] }, (_, trial) => 1 + ((first + 2 * trial - 1) % (length + 1)))
    await together(events, beside, (at, trial) => cancelAt(arena, at, trial % 3 === 0))
    const paid = (await arena.ledger.read()).executions.filter(({ tool }) => tool === 'model').length
    if (paid === 0) arena.score.fail('I17', 'no model call was counted')
    arena.score.count('model calls counted', paid)
    arena.score.count('ms allowed after a cancel', graceMs + arena.noise.worst())
    return arena.finish()
  },
}

async function cancelAt(arena: Arena, at: number, tasks: boolean): Promise<void> {
  const { score, client } = arena
  await score.trial(`event ${at}`, async () => {
    await tell(arena, async (_, id) => {
      const run = await client.say(id, `${tree} #think15 #paid:${id}`)
      await untilEvent(arena, id, at)
      score.intend()
      const { status, code } = await client.cancel(id, run, tasks)
      // It may have ended just before; that is told, too.
      if (status === 202 || code === 'RUN_FINISHED') score.fire()
      if (status === 202) score.count('cancelled')
      await untilIdle(arena, id)
    })
  })
}

/** Until the reader has the so-manieth event, or the run is over and brings no more; what it asks is answered. */
async function untilEvent({ history, client }: Arena, id: string, at: number): Promise<void> {
  for (let round = 0; round < 400; round += 1) {
    const seen = history.connections
      .filter(({ conversation }) => conversation === id)
      .flatMap(({ frames }): AnyEvent[] => frames.map(({ event }) => event))
    if (seen.length >= at) return
    if (round % 20 === 19) {
      const { status, interruptions } = await client.look(id)
      if (status === 'idle') return
      if (status === 'waiting') await answerAll(client, id, interruptions)
    }
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
}
