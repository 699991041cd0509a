/** F08: the network falls silent for a while, trickles, or is cut, in the middle of a story: nothing hangs, and the story ends as it would have. */
import { setTimeout as delay } from 'node:timers/promises'
import { type Arena, openArena } from '../rig/arena.ts'
import type { Lane } from '../rig/lane.ts'
import { heard } from '../rig/patience.ts'
import { isServed, isTyped, probe, type Told } from '../rig/probe.ts'
import type { Row } from '../rig/row.ts'
import { type Place, sideBySide } from '../rig/side-by-side.ts'
import { mainStory, tell } from '../rig/stories.ts'
import { openProxy, type Proxy as Network } from '../../postgres/support/proxy.ts'

/** What the network does, and for how long. */
interface Trial {
  readonly how: 'silence' | 'trickle' | 'cut'
  readonly ms: number
}

const once: readonly Trial[] = [
  { how: 'silence', ms: 18_000 },
  { how: 'trickle', ms: 8_000 },
  { how: 'silence', ms: 10_000 },
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
/**
 * What began in a silence is told of it by then: a round trip ends after 5 s, which is the first failure; 10 s after that the store says
 * that it is away, once what it tries then has ended, too.
 */
const toldWithinMs = 17_000
/** More requests at once than a store has connections, and by when they are served; how late the machine was is added. */
const requests = 24
const servedWithinMs = 10_000
/** Longer than the requests after a silence take on a busy machine: a lease that lapsed among them would count as a try of the run. */
const leaseMs = 10_000

export const halfOpenNetwork: Row = {
  id: 'F08',
  title: 'a network that falls silent, trickles, or is cut',
  stores: ['postgres'],
  run({ lane, profile }) {
    const trials = Array.from({ length: repeats[profile] }, () => once).flat()
    return sideBySide(lane, { places, trials, open: openBehindProxy })
  },
}

async function openBehindProxy(lane: Lane): Promise<Place<Trial>> {
  const proxy = await openProxy(lane.storeUrl)
  const arena = await openArena(lane, { storeUrl: proxy.url, leaseMs })
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
      const meanwhile = ask(arena, calm, 1)
      await delay(ms)
      if (how === 'silence') proxy.silence(false)
      else proxy.throttle(null)
      const isLong = how === 'silence' && ms > toldWithinMs
      for (const one of await meanwhile) {
        const isRefused = one.status === 503 && one.code === 'STORE_UNAVAILABLE'
        if (!isTyped(one) || (isLong && !isRefused))
          score.fail('I9', `${name}: a request was told ${one.status} ${one.code} after ${Math.round(one.ms)} ms`)
        if (isRefused) score.count('refusals STORE_UNAVAILABLE')
        if (isRefused) score.most('slowest refusal, ms', Math.round(one.ms))
      }
    }
    score.fire()
    const lateBefore = noise.sum()
    const served = await ask(arena, calm, requests)
    // A request has many steps, and on a busy machine each of them waits.
    const withinMs = servedWithinMs + noise.sum() - lateBefore
    for (const one of served) {
      score.most('slowest request afterwards, ms', Math.round(one.ms))
      if (isServed(one) && one.ms < withinMs) score.count('requests served afterwards')
      else score.fail('I9', `${name}: afterwards one was told ${one.status} ${one.code} in ${Math.round(one.ms)} ms`)
    }
    score.twin(name, await told, calm)
  })
}

/** Asks every server so often at once for a conversation that everybody knows, and to make as many: each pool has its own connections. */
async function ask({ crew }: Arena, id: string, times: number): Promise<readonly Told[]> {
  const path = '/api/v1/conversations'
  const asked = crew.servers.flatMap(({ url }) =>
    Array.from({ length: times }, () => [
      probe(url, `${path}/${encodeURIComponent(id)}`),
      probe(url, path, { agent: 'root', id: `chats/asked-${crypto.randomUUID()}` }),
    ]).flat(),
  )
  return Promise.all(asked)
}
