/** F09: a worker's clock is an hour off, or jumps: leases and times are the store's, and nobody steals a run or lets one expire. */
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Event } from '@witan/protocol'
import { type Arena, openArena, steadyLeaseMs } from '../rig/arena.ts'
import type { Death } from '../rig/crew.ts'
import { isFulfilled, lift, newDoom } from '../rig/doom.ts'
import type { Lane } from '../rig/lane.ts'
import { patienceMs } from '../rig/patience.ts'
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
  waits: true,
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
    if (failure !== null) violations.push({ invariant: 'I7', what: failure } as const)
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
  return {
    play: (trial) => skew(arena, trial, calm),
    finish: async () => ({ ...(await arena.finish()), recoveriesMs: [] }),
  }
}

async function skew(
  arena: Arena,
  { who, skewMs, what }: Trial,
  calm: Readonly<Record<Trial['what'], string>>,
): Promise<void> {
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
      await server.skew(skewMs)
      // In the middle of it the clock jumps to the other side.
      const jump = setTimeout(() => void server.skew(-skewMs), jumpAfterMs)
      const id = await tell(arena, stories[what]).finally(() => clearTimeout(jump))
      score.twin(name, id, calm[what])
      const seen = { from, to: Date.now(), deaths: crew.deaths.slice(deaths), events: await arena.client.events(id) }
      for (const wrong of [...wrongTakeovers(seen), ...wrongExpiry(seen)]) score.fail('I7', `${name}: ${wrong}`)
    }
    for (const one of crew.servers) await one.skew(0)
    if (isFulfilled(doom)) score.fire()
  })
  lift(doom)
}

/** What this process saw of a story, by its own clock. */
interface Seen {
  readonly from: number
  readonly to: number
  readonly deaths: readonly Death[]
  readonly events: readonly Event[]
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

/** What is to expire does so after its time by the database's clock, and soon. */
function wrongExpiry({ from, to, events }: Seen): readonly string[] {
  const asked = events.find(({ type }) => type === 'action_required')
  if (asked === undefined) return []
  const due = Date.parse(String(asked.content['expiresAt']))
  if (due < from + hastyMs || due > to) return [`asked after ${from}, over at ${to}, to expire at ${due}`]
  return to - due > slackMs ? [`over only ${to - due} ms after it expired`] : []
}
