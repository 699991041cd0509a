/** F10: readers are cut off at every event of a story and go on after the last one they have, or stay away; a run's own stream is cut, too. */
import { type Arena, openArena } from '../rig/arena.ts'
import { comesAbout } from '../rig/patience.ts'
import type { Row } from '../rig/row.ts'
import { together } from '../rig/score.ts'
import { mainStory, tell } from '../rig/stories.ts'

/** How many disconnects on each store. */
const most = { pr: 60, full: 1500 }
const readersOfOne = 12
const beside = 3

export const readerDisconnects: Row = {
  id: 'F10',
  title: 'readers and run streams cut off at every event; a fifth stay away',
  stores: ['sqlite', 'postgres'],
  async run({ lane, profile }) {
    const arena = await openArena(lane)
    const calm = await tell(arena, mainStory)
    const length = (await arena.client.events(calm)).length
    const streams = most[profile] / 6
    // One store takes the even events, the other the odd ones; then from the start again.
    const cuts = Array.from({ length: most[profile] - streams }, (_, index) => {
      const at = 2 * index + (lane.name === 'sqlite' ? 1 : 2)
      return {
        cutAfter: 1 + ((at - 1) % (length - 1)),
        once: index % 5 === 0,
        ...(index % 3 === 0 ? {} : { times: 1 }),
      }
    })
    const groups = Array.from({ length: Math.ceil(cuts.length / readersOfOne) }, (_, group) =>
      cuts.slice(group * readersOfOne, (group + 1) * readersOfOne),
    )
    await together(groups, beside, (group) => cutReaders(arena, group, calm))
    const policies = Array.from({ length: streams }, (_, index) => ({ index, cutAfter: 1 + (index % 5) }))
    await together(policies, beside, ({ index, cutAfter }) =>
      cutStream(arena, cutAfter, index % 2 === 0 ? 'cancel' : 'continue'),
    )
    return arena.finish()
  },
}

type ReaderCut = Parameters<Arena['client']['follow']>[1] & object

/** One story, and readers who are cut off each at an event of its own. */
async function cutReaders(arena: Arena, cuts: readonly ReaderCut[], calm: string): Promise<void> {
  const { score, client, history } = arena
  const id = arena.fresh()
  await client.open(id)
  const stops = cuts.map((cut) => client.follow(id, cut))
  await mainStory(arena, id)
  // Who was cut off near the end still reads on.
  const { length } = await client.events(id)
  const seen = () => history.connections.filter(({ conversation, frames }) => conversation === id && frames.length > 0)
  const last = () => seen().filter(({ frames }) => frames.at(-1)?.id === length).length
  const returning = cuts.filter(({ once, cutAfter }) => once !== true || cutAfter === length).length
  await comesAbout(() => last() >= returning, 20)
  await Promise.all(stops.map((stop) => stop()))
  for (const { cutAfter } of cuts) {
    await score.trial(`cut after ${cutAfter}`, async () => {
      score.intend()
      if (seen().some(({ from, frames }) => from === 0 && frames.length === cutAfter)) score.fire()
    })
  }
  if (last() < returning) score.fail('I2', `${id}: ${last()} of ${returning} readers came to the end`)
  score.count('connections cut', seen().length - returning)
  score.twin('a story beside readers who are cut off', id, calm)
}

/** A run whose reader leaves in the middle of its stream: it goes on, or is cancelled, as was asked. */
async function cutStream(arena: Arena, cutAfter: number, onDisconnect: 'continue' | 'cancel'): Promise<void> {
  const { score, client } = arena
  await score.trial(`a run's stream cut after ${cutAfter}, ${onDisconnect}`, async () => {
    const id = arena.fresh()
    await client.open(id)
    score.intend()
    // Whoever is to be cancelled does not end by itself: its last reply takes longer than anybody waits for it.
    const mark = onDisconnect === 'cancel' ? '#rest' : '#think100'
    const read = await client.sayAndRead(id, `read book pay read book ${mark} #1`, { cutAfter, onDisconnect })
    if (read === cutAfter) score.fire()
    const { runs } = await client.untilRest(id)
    const wanted = onDisconnect === 'cancel' ? 'cancelled' : 'completed'
    if (runs[0]?.status !== wanted) throw new Error(`the run is ${runs[0]?.status}, not ${wanted}`)
    score.count(`${wanted} after their reader left`)
  })
}
