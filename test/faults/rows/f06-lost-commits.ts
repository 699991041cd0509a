/** F06: the reply to a commit is lost, or the commit itself, for every commit of a story in turn: nobody knows whether it happened. */
import { type Arena, openArena } from '../rig/arena.ts'
import type { Lane } from '../rig/lane.ts'
import type { Row } from '../rig/row.ts'
import { type Place, sideBySide } from '../rig/side-by-side.ts'
import { effectStory, tell } from '../rig/stories.ts'
import { openProxy, type Proxy as Network } from '../../postgres/support/proxy.ts'

const repeats = { pr: 1, full: 25 }
const places = 3

/** What becomes of which commit, as a part of all that the story has. */
interface Trial {
  readonly fate: 'loseReply' | 'loseRequest'
  readonly part: number
}

/** A story has some forty to fifty, by how often its server looks around meanwhile; where it has fewer than this, some are lost twice. */
const mostCommits = 56

export const lostCommits: Row = {
  id: 'F06',
  title: 'the k-th commit is lost, or the reply to it',
  stores: ['postgres'],
  run({ lane, profile }) {
    const parts = Array.from({ length: mostCommits }, (_, at) => at / mostCommits)
    const once = (['loseReply', 'loseRequest'] as const).flatMap((fate) => parts.map((part) => ({ fate, part })))
    const trials = Array.from({ length: repeats[profile] }, () => once).flat()
    return sideBySide(lane, { places, trials, open: openBehindProxy })
  },
}

async function openBehindProxy(lane: Lane): Promise<Place<Trial>> {
  const proxy = await openProxy(lane.storeUrl)
  const arena = await openArena(lane, { servers: 1, storeUrl: proxy.url })
  const before = proxy.commits
  const calm = await tell(arena, effectStory)
  const commits = proxy.commits - before
  arena.score.count('commits of the stories', commits)
  return {
    play: ({ fate, part }) => lose(arena, proxy, { fate, at: 1 + Math.floor(part * commits), calm }),
    finish: () => arena.finish().finally(() => proxy.close()),
  }
}

async function lose(
  arena: Arena,
  proxy: Network,
  { fate, at, calm }: { readonly fate: Trial['fate']; readonly at: number; readonly calm: string },
): Promise<void> {
  const { score } = arena
  const name = `${fate} ${at}`
  await score.trial(name, async () => {
    const [from, cuts] = [proxy.commits, proxy.cuts]
    score.intend()
    // A story has a commit more or less, as appends meet: then the fault falls into the next.
    proxy.fate = (number) => (number >= from + at && proxy.cuts === cuts ? fate : 'pass')
    for (let tries = 0; tries < 5 && proxy.cuts === cuts; tries += 1)
      score.twin(name, await tell(arena, effectStory), calm)
    proxy.fate = () => 'pass'
    score.fire(proxy.cuts - cuts)
  })
}
