/**
 * F12: readers that take nothing, or a kilobyte a second, sit on conversations of ten megabytes beside fifty that keep up: the slow are
 * ended with a word, the others wait no longer than before, what is kept for them stays bounded and is dropped, and whoever returns misses nothing.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { type Arena, openArena } from '../rig/arena.ts'
import { comesAbout, patienceMs } from '../rig/patience.ts'
import { percentile, type Row } from '../rig/row.ts'
import { together } from '../rig/score.ts'
import { type Sitter, sit } from '../rig/sitter.ts'
import type { Server } from '../rig/supervisor.ts'

/** How often on each store; they sit on two conversations beside each other. */
const pairs = { pr: 1, full: 5 }
/** Of each kind, on each conversation. */
const sitters = 1
const conversations = 2
const healthy = 50
const healthyOnOne = 10
/** Two megabytes a step. */
const step = Array.from({ length: 8 }, () => 'bad:long').join('+')
const growth = `${Array.from({ length: 5 }, () => step).join(' ')} #1`
/** For each: a megabyte queued, half a megabyte read ahead, a frame of a quarter of a megabyte beyond each, and what a socket takes. */
const mostHeldBytes = 3_000_000
const leastHeldBytes = 500_000
/** Below this nobody can tell a wait from the noise of a machine that runs other tests; who waits for a stuck reader waits for 20 s. */
const floorMs = 5_000
/** How long the others are alone. */
const calmMs = 3_000
const stillReadingMs = 500

export const stuckReader: Row = {
  id: 'F12',
  title: 'stuck and slow readers beside fifty that keep up',
  stores: ['sqlite', 'postgres'],
  async run({ lane, profile }) {
    const arena = await openArena(lane, { servers: 1 })
    const { crew, score } = arena
    const server = await crew.first()
    const audience = await seat(arena)
    for (let pair = 0; pair < pairs[profile]; pair += 1) {
      const ids = Array.from({ length: conversations }, () => arena.fresh())
      // What a server keeps of a conversation it keeps in any case: the growth comes first.
      await together(ids, ids.length, (id) => grow(arena, id))
      // As many who keep up are what those who do not are held against.
      await together(ids, ids.length, (id) => readAll(arena, id))
      audience.p99()
      await delay(calmMs)
      const before = { p99: audience.p99(), heldBytes: await server.held() }
      const seated = await together(ids, ids.length, (id) => seatSitters(arena, server.url, id))
      const heldBytes = await mostHeld(server)
      await together(seated, seated.length, (some) => score.trial('stuck and slow readers', () => evicted(arena, some)))
      const after = { p99: audience.p99(), heldBytes: await server.held() }
      judge(arena, { before, heldBytes, after })
    }
    await audience.leave()
    return arena.finish()
  },
}

const tooSlow = 'too slow for its stream'

/** The most that a server holds from now until it ends the first of them. */
async function mostHeld({ said, held }: Server): Promise<number> {
  const from = said.length
  let most = 0
  await comesAbout(async () => {
    most = Math.max(most, await held())
    return said.slice(from).some((line) => line.includes(tooSlow))
  }, 1_000)
  return most
}

interface Measured {
  readonly p99: number
  readonly heldBytes: number
}

interface Measurements {
  readonly before: Measured
  /** While they sit. */
  readonly heldBytes: number
  readonly after: Measured
}

/** The server keeps a bounded number of bytes for each, and drops them when they are gone; nobody else waits twice as long. */
function judge({ noise, score }: Arena, { before, heldBytes, after }: Measurements): void {
  const sitting = conversations * 2 * sitters
  score.held(before.heldBytes, after.heldBytes)
  score.most('kB held for them', Math.round(heldBytes / 1e3))
  score.most('p99 before, ms', before.p99)
  score.most('p99 beside them, ms', after.p99)
  if (heldBytes > sitting * mostHeldBytes)
    score.fail('I15', `the server held ${heldBytes} bytes for ${sitting} readers that take nothing`)
  // A measure that sees nothing would hold, too.
  if (heldBytes < sitting * leastHeldBytes) score.fail('I17', `only ${heldBytes} bytes were held: nobody was stuck`)
  const allowed = Math.max(2 * before.p99, floorMs) + noise.worst()
  if (after.p99 > allowed)
    score.fail('I9', `healthy readers waited ${after.p99} ms beside stuck ones, and ${before.p99} ms before`)
}

/** Readers that keep up with conversations of their own, in which something is always said. */
async function seat(arena: Arena) {
  const { client } = arena
  const going = { on: true }
  const delays: number[] = []
  const onEvent = ({ at }: { readonly at: string }): void => void delays.push(Date.now() - Date.parse(at))
  const ids = Array.from({ length: healthy / healthyOnOne }, () => arena.fresh())
  for (const id of ids) await client.open(id)
  const stops = ids.flatMap((id) => Array.from({ length: healthyOnOne }, () => client.follow(id, { onEvent })))
  const talking = together(ids, ids.length, async (id) => {
    for (let part = 1; going.on; part += 1) {
      await client.say(id, `read #think50 #${part}`)
      await client.untilRest(id)
      await delay(1000)
    }
  })
  return {
    /** Of the delays since the last time. */
    p99: () => percentile(delays.splice(0), 0.99) ?? 0,
    async leave() {
      going.on = false
      await talking
      await delay(100)
      await Promise.all(stops.map((stop) => stop()))
    },
  }
}

async function grow({ client }: Arena, id: string): Promise<void> {
  await client.open(id)
  await client.say(id, growth)
  await client.untilRest(id)
}

/** As many readers as will sit there read everything. */
async function readAll({ client, history }: Arena, id: string): Promise<void> {
  const { length } = await client.events(id)
  const from = history.connections.length
  const stops = Array.from({ length: 2 * sitters }, () => client.follow(id))
  const own = () => history.connections.slice(from).filter(({ conversation }) => conversation === id)
  const isDone = () => own().filter(({ frames }) => frames.at(-1)?.id === length).length === stops.length
  await comesAbout(isDone)
  await Promise.all(stops.map((stop) => stop()))
}

async function seatSitters({ history }: Arena, address: string, id: string): Promise<readonly Sitter[]> {
  const kinds = Array.from({ length: sitters }, () => [true, false]).flat()
  return Promise.all(kinds.map((slow) => sit(history, { address, id, slow })))
}

/** Each is ended, and then reads to the end of its stream, which must say why; one of them comes back for the rest. */
async function evicted({ score, client, crew, history, noise }: Arena, seated: readonly Sitter[]): Promise<void> {
  score.intend(seated.length)
  // When the server has ended one is its own to say; the last word is kept for it for five seconds only.
  const { said } = await crew.first()
  const isEnded = ({ requestId }: Sitter) => said.some((line) => line.includes(tooSlow) && line.includes(requestId))
  const readOn = async (one: Sitter) => {
    await comesAbout(() => isEnded(one), 100)
    return one.readOn(patienceMs)
  }
  for (const { comments, silentMs } of await Promise.all(seated.map(readOn))) {
    // On a machine so busy that it was still reading when its time for the last word was over, it is cut off without it.
    const wasReading = silentMs !== null && silentMs < stillReadingMs + noise.worst()
    if (comments.includes('slow_consumer')) score.fire()
    else if (wasReading) {
      score.fire()
      score.count('cut off while they read on')
    } else
      throw new Error(`a stuck reader was told ${comments.join() || 'nothing'}, and nothing came for ${silentMs} ms`)
  }
  const [one] = seated
  if (one === undefined) return
  const { conversation: id, frames } = one.connection
  const { length } = await client.events(id)
  const stop = client.follow(id, { from: frames.at(-1)?.id ?? 0 })
  const rest = history.connections.at(-1)
  await comesAbout(() => rest?.frames.at(-1)?.id === length)
  await stop()
  if (rest?.frames.at(-1)?.id !== length) throw new Error(`${id}: who came back has not all ${length} events`)
}
