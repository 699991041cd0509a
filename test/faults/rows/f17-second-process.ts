/** F17: second processes open the embedded store: they are refused and told who holds it, and after a kill the file is free. */
import { openArena } from '../rig/arena.ts'
import type { Row } from '../rig/row.ts'
import { createSupervisor } from '../rig/supervisor.ts'
import { effectStory, tell } from '../rig/stories.ts'

const rounds = { pr: 2, full: 10 }
/** How many try at once. */
const atOnce = 5
const wrongStore = 78

export const secondProcess: Row = {
  id: 'F17',
  title: 'second processes on the same file',
  stores: ['sqlite'],
  async run({ lane, profile }) {
    const arena = await openArena(lane)
    const { crew, score } = arena
    const ground = { storeUrl: lane.storeUrl, ledgerUrl: 'http://127.0.0.1:1', leaseMs: 300 }
    const others = await createSupervisor(ground, atOnce)
    for (let round = 0; round < rounds[profile]; round += 1) {
      const holder = await crew.first()
      const open = async (): Promise<void> => {
        score.intend()
        const second = await others.start()
        const code = await second.gone
        const said = second.said.join('\n')
        const file = lane.storeUrl.slice('file:'.length)
        if (code !== wrongStore || ![`STORE_LOCKED`, String(holder.pid), file].every((word) => said.includes(word)))
          throw new Error(`the second process ended ${code}: ${said.slice(-300)}`)
        score.fire()
      }
      const tries = Array.from({ length: atOnce }, () => score.trial('a second process', open))
      await Promise.all(tries)
      await holder.kill()
      await score.trial('the file is free after a kill', async () => void (await tell(arena, effectStory)))
    }
    await others.close()
    return arena.finish()
  },
}
