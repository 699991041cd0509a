/** F08: the network falls silent for a while, trickles, or is cut, in the middle of a story: nothing hangs, and the story ends as it would have. */
import { setTimeout as delay } from 'node:timers/promises'
import { type Arena, openArena } from '../rig/arena.ts'
import type { Lane } from '../rig/lane.ts'
import { heard } from '../rig/patience.ts'
import { isTyped, probe } from '../rig/probe.ts'
import type { Row } from '../rig/row.ts'
import { type Place, sideBySide } from '../rig/side-by-side.ts'
import { mainStory, tell } from '../rig/stories.ts'
import { openProxy, type Proxy as Network } from '../../postgres/support/proxy.ts'

/** What the network does, and for how long. */
interface Trial {
  readonly how: 'silence' | 'trickle' | 'cut'
  readonly ms: number
}

/** A store says that it is away after 10 s: once that is passed. */
const once: readonly Trial[] = [
  { how: 'silence', ms: 12_000 },
  { how: 'trickle', ms: 8_000 },
  { how: 'silence', ms: 6_000 },
  { how: 'trickle', ms: 5_000 },
  { how: 'silence', ms: 4_000 },
  { how: 'trickle', ms: 3_000 },
  { how: 'silence', ms: 2_000 },
  { how: 'silence', ms: 1_000 },
  { how: 'cut', ms: 0 },
  { how: 'cut', ms: 0 },
]
const repeats = { pr: 1, full: 10 }
const places = 3
/** So many events a story has at most when it is disturbed. */
const early = 20
/** More requests at once than a store has connections, and by when they are served; how late the machine was is added. */
const requests = 24
const servedWithinMs = 10_000

export const halfOpenNetwork: Row = {
  id: 'F08',
  title: 'a network that falls silent, trickles, or is cut',
  stores: ['postgres'],
  waits: true,
  run({ lane, profile }) {
    const trials = Array.from({ length: repeats[profile] }, () => once).flat()
    return sideBySide(lane, { places, trials, open: openBehindProxy })
  },
}

async function openBehindProxy(lane: Lane): Promise<Place<Trial>> {
  const proxy = await openProxy(lane.storeUrl)
  const arena = await openArena(lane, { storeUrl: proxy.url })
  const calm = await tell(arena, mainStory)
  return {
    play: (trial) => disturb(arena, proxy, { ...trial, calm }),
    finish: () => arena.finish().finally(() => proxy.close()),
  }
}

async function disturb(
  arena: Arena,
  proxy: Network,
  { how, ms, calm }: Trial & { readonly calm: string },
): Promise<void> {
  const { history, noise, score } = arena
  const name = `${how} for ${ms} ms`
  await score.trial(name, async () => {
    const told = tell(arena, mainStory)
    await heard(history, 1 + Math.floor(Math.random() * early), told)
    score.intend()
    if (how === 'cut') proxy.cut()
    else {
      if (how === 'silence') proxy.silence(true)
      else proxy.throttle(1)
      const meanwhile = ask(arena, calm, 2)
      await delay(ms)
      if (how === 'silence') proxy.silence(false)
      else proxy.throttle(null)
      for (const one of await meanwhile) {
        if (!isTyped(one)) score.fail('I9', `${name}: a request was told ${one.status} ${one.code}`)
        else if (one.status === 503) score.count('refusals')
      }
    }
    score.fire()
    for (const one of await ask(arena, calm, requests)) {
      if (one.status === 200 && one.ms < servedWithinMs + noise.worst()) continue
      score.fail('I9', `${name}: afterwards a request was told ${one.status} ${one.code} in ${Math.round(one.ms)} ms`)
    }
    score.twin(name, await told, calm)
  })
}

/** Asks every server so often at once for a conversation that everybody knows. */
async function ask({ crew }: Arena, id: string, times: number) {
  const path = `/api/v1/conversations/${encodeURIComponent(id)}`
  const asked = crew.servers.flatMap(({ url }) => Array.from({ length: times }, () => probe(url, path)))
  return Promise.all(asked)
}
