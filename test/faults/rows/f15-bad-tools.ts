/** F15 and F20: tools that throw, hang, ignore their abort, give monsters, leave rejections behind, or block the process. */
import { type Arena, openArena } from '../rig/arena.ts'
import type { Row, RowContext, RowResult } from '../rig/row.ts'
import { together } from '../rig/score.ts'
import { mainStory, tell } from '../rig/stories.ts'

const manners = ['throw', 'hang', 'late', 'large', 'cyclic', 'bigint', 'binary', 'detached'] as const
const repeats = { pr: 4, full: 32 }
const blocks = { pr: { sqlite: 3, postgres: 2, memory: 0 }, full: { sqlite: 15, postgres: 15, memory: 0 } }
/** How long an event may be, whatever a tool gives. */
const mostLetters = 300_000

/** Has a tool misbehave in a conversation of its own. */
async function misbehave(arena: Arena, manner: string, allowed?: string): Promise<void> {
  const { score, client } = arena
  await score.trial(manner, async () => {
    score.intend()
    await tell(arena, async (_, id) => {
      await client.say(id, `bad:${manner} read #1`)
      await client.untilRest(id)
      score.fire()
      const events = await client.events(id)
      // A tool that blocks one owner after the other is set aside.
      const code = events.findLast(({ type, callId, rootCallId }) => type === 'error' && callId === rootCallId)
        ?.content['code']
      if (code !== undefined && code !== allowed) throw new Error(`the run failed with ${String(code)}`)
      const longest = Math.max(...events.map((event) => JSON.stringify(event).length))
      if (longest > mostLetters) score.fail('I10', `${id}: an event of ${longest} letters`)
    })
  })
}

async function survived({ crew, score, finish }: Arena): Promise<RowResult> {
  if (crew.deaths.length > 0) score.fail('I9', `${crew.deaths.length} servers did not survive their tools`)
  return finish()
}

export const badTools: Row = {
  id: 'F15',
  title: 'tools that throw, hang, flood and leave rejections behind',
  stores: ['sqlite', 'postgres'],
  /** All manners beside each other, and a story that must not notice. */
  async run({ lane, profile }) {
    const arena = await openArena(lane)
    const calm = await tell(arena, mainStory)
    for (let repeat = 0; repeat < repeats[profile]; repeat += 1) {
      const beside = tell(arena, mainStory)
      await together(manners, manners.length, (manner) => misbehave(arena, manner))
      arena.score.twin('a story beside bad tools', await beside, calm)
    }
    return survived(arena)
  },
}

export const blockedLoop: Row = {
  id: 'F20',
  title: 'a tool that blocks its process for more than two leases',
  stores: ['sqlite', 'postgres'],
  /** The whole process stands still, and all its jobs change hands: those of the story beside it, too. */
  async run({ lane, profile }: RowContext) {
    const arena = await openArena(lane)
    const { score, client } = arena
    const calm = await tell(arena, mainStory)
    for (let block = 0; block < blocks[profile][lane.name]; block += 1) {
      const beside = tell(arena, mainStory)
      await misbehave(arena, 'block', 'RUN_QUARANTINED')
      const id = await beside
      score.twin('a story beside a blocking tool', id, calm)
      const taken = (await client.events(id)).filter(({ content }) => content['code'] === 'RUN_RECOVERED')
      score.count('takeovers beside', taken.length)
    }
    return survived(arena)
  },
}
