/** F09: a worker's clock is an hour off, or jumps: nobody steals a run, and what expires does so right by the database's clock. */
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { AnyEvent } from '@witan/protocol'
import { type Arena, openArena, steadyLeaseMs } from '../rig/arena.ts'
import type { Death } from '../rig/crew.ts'
import { isFulfilled, lift, newDoom } from '../rig/doom.ts'
import { type Expiring, type Expiry, type ExpiryWatch, watchExpiries } from '../rig/expiries.ts'
import type { Lane } from '../rig/lane.ts'
import { watchNoise } from '../../support/noise.ts'
import { patienceMs } from '../rig/patience.ts'
import { isTyped, probe } from '../rig/probe.ts'
import type { Row, RowContext, RowResult } from '../rig/row.ts'
import { type Place, sideBySide } from '../rig/side-by-side.ts'
import { hastyStory, longStory, slowStory, tell } from '../rig/stories.ts'
import type { Server } from '../rig/supervisor.ts'
import { hastyMs } from '../rig/world.ts'
import { runSchedules } from '../../simulation/rig/rounds.ts'

const schedules = { pr: 100, full: 10_000 }
const hourMs = 3_600_000
const seed = 9

export const skewedClocks: Row = {
  id: 'F09',
  title: 'a worker whose clock is an hour off, or jumps',
  stores: ['memory', 'postgres'],
  run: (context) => (context.lane.name === 'memory' ? simulated(context) : real(context)),
}

async function simulated({ profile }: RowContext): Promise<RowResult> {
  const violations = []
  const counts: Record<string, number> = {}
  let trials = 0
  for (const skewMs of [hourMs, -hourMs]) {
    const { schedules: played, tally, failure } = await runSchedules(seed, schedules[profile] / 2, { skewMs })
    trials += played
    counts['late writes refused'] = tally.fenced + (counts['late writes refused'] ?? 0)
    if (failure !== null)
      violations.push({ invariant: 'I7', what: `${failure.what} at ${failure.seed}, ${failure.path}` } as const)
  }
  return { trials, intended: trials, fired: trials, violations, recoveriesMs: [], counts }
}

/** What is told meanwhile: who is to die at a heartbeat must have one. */
const stories = { work: slowStory, death: longStory, expiry: hastyStory } as const

/** Whose clock is wrong, by how much, and what happens meanwhile. */
interface Trial {
  /** Of three servers, the one that is spoken to is the first. */
  readonly who: 0 | 1
  readonly skewMs: number
  readonly what: 'work' | 'death' | 'expiry'
}

const once: readonly Trial[] = ([0, 1] as const).flatMap((who) =>
  [hourMs, -hourMs].flatMap((skewMs) => (['death', 'expiry', 'work'] as const).map((what) => ({ who, skewMs, what }))),
)
const repeats = { pr: 1, full: 10 }
const places = 2
/** One that lapses where nobody died would be told as a theft. */
const leaseMs = 2 * steadyLeaseMs
const jumpAfterMs = 300
/** What an interruption is given, a conversation, and a key. */
const expiryMs = hastyMs
/** How far what expires may be off, by the database's clock; how late this machine was at other things is added. */
const offByMs = 1_000
const askEveryMs = 100
/** For the rest of a run, on a machine that has other things to do: a clock that is believed is off by an hour. */
const slackMs = patienceMs
const mostTries = 20

function real({ lane, profile }: RowContext): Promise<RowResult> {
  const trials = Array.from({ length: repeats[profile] }, () => once).flat()
  return sideBySide(lane, { places, trials, open: openSkewed })
}

async function openSkewed(lane: Lane): Promise<Place<Trial>> {
  // An entry bears its writer's time, which here is wrong: only what this process saw, and the database's own times, tell anything.
  const arena = await openArena(lane, { servers: 3, leaseMs, bounds: { recoveryMs: Number.POSITIVE_INFINITY } })
  const calm = {
    work: await tell(arena, slowStory),
    death: await tell(arena, longStory),
    expiry: await tell(arena, hastyStory),
  }
  const watch = await watchExpiries(lane)
  return {
    play: (trial) => skew({ arena, watch, calm }, trial),
    finish: async () => ({ ...(await arena.finish()), recoveriesMs: [] }),
  }
}

interface Scene {
  readonly arena: Arena
  readonly watch: ExpiryWatch
  /** The stories as they are told when all clocks are right. */
  readonly calm: Readonly<Record<Trial['what'], string>>
}

async function skew({ arena, watch, calm }: Scene, { who, skewMs, what }: Trial): Promise<void> {
  const { crew, lane, score } = arena
  const name = `${what}, server ${who} off by ${skewMs} ms`
  const doom = newDoom(join(lane.folder, 'dooms'), what === 'death' ? [{ point: 'heartbeat', at: 1 }] : [])
  score.intend()
  await score.trial(name, async () => {
    while (crew.servers.length < 3) await delay(10)
    await crew.expect(doom)
    const server = crew.servers[who] as Server
    for (let tries = 0; tries < mostTries && (tries === 0 || !isFulfilled(doom)); tries += 1) {
      const [from, deaths] = [Date.now(), crew.deaths.length]
      const lag = watchLag(server)
      await server.skew(skewMs)
      // In the middle of it the clock jumps to the other side.
      const jump = setTimeout(() => void server.skew(-skewMs), jumpAfterMs)
      const beside = what === 'expiry' ? Promise.all([letKeyExpire(watch, server), letExpire(server)]) : []
      const id = await tell(arena, stories[what]).finally(() => clearTimeout(jump))
      score.twin(name, id, calm[what])
      const wrong = [...(await beside)].flat()
      const lagMs = await lag()
      const expiries = await watch.seen()
      const seen = { from, to: Date.now(), deaths: crew.deaths.slice(deaths), events: await arena.client.events(id) }
      wrong.push(...wrongTakeovers(seen), ...wrongExpiries(expiries, { lagMs, events: seen.events }))
      if (what === 'expiry') wrong.push(...missing(expiries))
      for (const one of wrong) score.fail('I7', `${name}: ${one}`)
      for (const one of expiries.filter(({ is }) => is === 'over')) {
        score.count(`${one.of}s over`)
        score.most('latest end of a time, ms', one.at - one.due)
      }
      score.most('lag of the machine, ms', lagMs)
    }
    for (const one of crew.servers) await one.skew(0)
    if (isFulfilled(doom)) score.fire()
  })
  lift(doom)
}

/** How late the machine is now: at a timer of this process, and at a request of a server that asks the database. */
function watchLag(server: Server): () => Promise<number> {
  const noise = watchNoise()
  const state = { going: true, slowestMs: 0 }
  const asking = (async () => {
    while (state.going && !server.isGone) {
      const told = await probe(server.url, '/api/v1/conversations?limit=1')
      if (isTyped(told)) state.slowestMs = Math.max(state.slowestMs, Math.round(told.ms))
      await delay(askEveryMs)
    }
  })()
  return async () => {
    state.going = false
    await asking
    noise.stop()
    return noise.worst() + state.slowestMs
  }
}

/** A conversation that soon expires, made where the clock is wrong; whoever sweeps next takes it away. */
async function letExpire({ url }: Server): Promise<readonly string[]> {
  const id = `chats/brief-${crypto.randomUUID()}`
  const { status } = await probe(url, '/api/v1/conversations', { agent: 'root', id, expiresInSeconds: expiryMs / 1000 })
  if (status !== 201) return [`a conversation was not made: ${status}`]
  for (let round = 0; round < slackMs / askEveryMs; round += 1) {
    await delay(askEveryMs)
    if ((await probe(url, `/api/v1/conversations/${encodeURIComponent(id)}`)).status === 404) return []
  }
  return [`a conversation of ${expiryMs} ms was still there ${slackMs} ms later`]
}

/** A key that holds for two seconds more, where the clock is wrong: until then its reply is repeated, and a second later it is free. */
async function letKeyExpire(watch: ExpiryWatch, { url }: Server): Promise<readonly string[]> {
  const key = crypto.randomUUID()
  const id = `chats/keyed-${key}`
  const send = async (): Promise<{ readonly isRepeated: boolean; readonly status: number }> => {
    const headers = { 'content-type': 'application/json', 'idempotency-key': key }
    const body = JSON.stringify({ agent: 'root', id })
    const { status, headers: told } = await fetch(`${url}/api/v1/conversations`, { method: 'POST', headers, body })
    return { isRepeated: told.get('idempotency-replayed') === 'true', status }
  }
  const first = await send()
  const due = await watch.ageKey(key, expiryMs)
  const repeat = await send()
  const repeatedAt = await watch.now()
  let now = repeatedAt
  for (; now < due + offByMs; now = await watch.now()) await delay(askEveryMs)
  const late = await send()
  const wrong: string[] = []
  if (first.isRepeated || first.status !== 201) wrong.push(`a fresh key was told ${JSON.stringify(first)}`)
  if (repeatedAt < due - offByMs && !repeat.isRepeated) wrong.push(`a key was free ${due - repeatedAt} ms too soon`)
  if (late.isRepeated) wrong.push(`a key still held ${now - due} ms after its time`)
  return wrong
}

/** What this process saw of a story, by its own clock. */
interface Seen {
  readonly from: number
  readonly to: number
  readonly deaths: readonly Death[]
  readonly events: readonly AnyEvent[]
}

/** Nobody takes a run over whose owner lives, nor before the lease of a dead one has lapsed, nor much later. */
function wrongTakeovers({ to, deaths, events }: Seen): readonly string[] {
  const takeovers = events.filter(({ type, content }) => type === 'notice' && content['code'] === 'RUN_RECOVERED')
  if (takeovers.length > deaths.length) return [`${takeovers.length} takeovers of ${deaths.length} dead owners`]
  const [death] = deaths
  if (death === undefined) return []
  // It died just after it prolonged its lease, half of which is for whoever noticed late; a run that had just ended needs nobody.
  const ms = to - death.at
  if (takeovers.length > 0 && ms < leaseMs / 2)
    return [`over ${ms} ms after the death of its owner, whose lease was ${leaseMs} ms`]
  return ms > leaseMs * 1.2 + slackMs ? [`over only ${ms} ms after the death of its owner`] : []
}

/** By the database's clock: given the right time, over not before it and a second after it at most; and clients are told that time. */
function wrongExpiries(
  expiries: readonly Expiry[],
  { lagMs, events }: { readonly lagMs: number; readonly events: readonly AnyEvent[] },
): readonly string[] {
  const allowedMs = offByMs + lagMs
  const wrong = expiries.flatMap(({ of, is, at, due }) => {
    const [off, least] = is === 'over' ? [at - due, 0] : [due - at - expiryMs, -allowedMs]
    return off < least || off > allowedMs ? [`a time of ${of} ${is} ${off} ms off, and ${allowedMs} are allowed`] : []
  })
  const asked = events.find(({ type }) => type === 'action_required')
  if (asked === undefined) return wrong
  const told = Date.parse(String(asked.content['expiresAt']))
  const isKept = expiries.some(({ of, is, due }) => of === 'interruption' && is === 'given' && due === told)
  return isKept ? wrong : [...wrong, `a client was told ${told}, and nothing in the database expires then`]
}

/** What should have been given a time and been over, and was not seen. */
function missing(expiries: readonly Expiry[]): readonly string[] {
  const kinds: readonly Expiring[] = ['interruption', 'conversation']
  return kinds.flatMap((of) =>
    (['given', 'over'] as const).flatMap((is) =>
      expiries.some((one) => one.of === of && one.is === is) ? [] : [`no ${of} was ${is}`],
    ),
  )
}
