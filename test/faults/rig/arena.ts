/** One row at work: servers over a store, a client, a ledger, and the evidence of all its trials together. */
import { availableParallelism, loadavg } from 'node:os'
import { join } from 'node:path'
import { check } from './checker.ts'
import { type Client, createClient } from './client.ts'
import { type Crew, type Death, openCrew } from './crew.ts'
import { endingOf } from './ending.ts'
import { defaultDatabase } from './databases.ts'
import {
  type Bounds,
  emptyEvidence,
  type Evidence,
  type Reading,
  readStored,
  type StoredConversation,
} from './evidence.ts'
import { type History, newHistory } from './history.ts'
import type { Lane } from './lane.ts'
import { type Ledger, type LedgerState, startLedger } from './ledger.ts'
import type { RowResult } from './row.ts'
import { newScore, type Score } from './score.ts'
import { hiddenValue, worldBlock } from './world.ts'
import { type NoiseWatch, watchNoise } from '../../support/noise.ts'

/** The lease of the test profile: a server that waits for the processor beside all the others must not lose it, which would count as a try. */
export const steadyLeaseMs = 2_000
const longestLeaseMs = 10_000

/** So many that want to run on each processor are usual: the tests that run beside these ones. */
const usualCrowd = 8

/** Where much more wants to run a server waits for its turn, and its lease is longer by as much. */
function leaseOnThisMachine(): number {
  const crowd = (loadavg()[0] ?? 0) / availableParallelism()
  return Math.min(longestLeaseMs, steadyLeaseMs * Math.max(1, crowd / usualCrowd))
}

/** By when a dead owner's work must go on once its lease is over; how late the machine was, and how long a server took to start, are added. */
const recoveryBoundMs = 8_000

/** A second database: its name, and the values that belong to one database only. */
interface Neighbour {
  readonly name: string
  readonly canaries: Evidence['canaries']
}

/** How an arena is set up. */
interface ArenaOptions {
  /** Default: `steadyLeaseMs`, and more on a crowded machine. */
  readonly leaseMs?: number
  readonly bounds?: Partial<Bounds>
  /** Further environment of its servers. */
  readonly env?: Readonly<Record<string, string>>
  /** Default: as many as the lane allows. */
  readonly servers?: 1 | 2 | 3
  /** Another database beside the default one, with conversations of the same ids: a client of its own reads it through the same servers [I14]. */
  readonly other?: Neighbour
  /** Where the servers find their store, if not at the lane itself. */
  readonly storeUrl?: string
}

/** Everything that a trial works with. */
export interface Arena {
  readonly lane: Lane
  readonly crew: Crew
  readonly client: Client
  readonly score: Score
  readonly history: History
  /** The client of the other database; that of the default one where there is none. */
  readonly neighbour: Client
  /** How late this machine was so far, which is added to every bound on time; to `graceMs` and `recoveryMs` in any case. */
  readonly noise: NoiseWatch
  /** What else was read, by whom. */
  readonly readings: Reading[]
  readonly ledger: Ledger
  /** A fresh conversation's id. */
  fresh(): string
  /** Ends all servers, reads what is stored, and checks everything. */
  finish(): Promise<RowResult>
}

/** Writes what the root remembers; another arena on the same store may have done so. A server that cannot is one that a row has broken. */
async function keepBlock(url: string): Promise<void> {
  const headers = { 'content-type': 'application/json' }
  const sent = { method: 'POST', headers, body: JSON.stringify(worldBlock), signal: AbortSignal.timeout(20_000) }
  await fetch(`${url}/api/v1/memory`, sent).catch(() => {})
}

/** Opens an arena with its servers running. */
export async function openArena(lane: Lane, options: ArenaOptions = {}): Promise<Arena> {
  const {
    storeUrl = lane.storeUrl,
    leaseMs = Math.round(leaseOnThisMachine()),
    servers = lane.servers,
    env = {},
    bounds = {},
    other = null,
  } = options
  const ledger = await startLedger(join(lane.folder, `ledger-${crypto.randomUUID()}.db`))
  const crew = await openCrew(
    { storeUrl, ledgerUrl: ledger.url, leaseMs },
    {
      servers,
      env: other === null ? env : { ...env, TORTURE_DATABASES: other.name },
    },
  )
  const history = newHistory()
  const ids: string[] = []
  const address = () => crew.servers[0]?.url ?? ''
  const lastDeathAt = () => crew.deaths.at(-1)?.at ?? 0
  const client = createClient(address, history, { lastDeathAt })
  await keepBlock(address())
  const arena: Omit<Arena, 'finish'> = {
    lane,
    crew,
    history,
    ledger,
    score: newScore(),
    client,
    noise: watchNoise(),
    neighbour: other === null ? client : createClient(address, newHistory(), { database: other.name, lastDeathAt }),
    readings: [],
    fresh() {
      const id = `chats/${ids.length + 1}`
      ids.push(id)
      return id
    },
  }
  return { ...arena, finish: () => finish(arena, { ids, bounds, other, leaseMs }) }
}

interface Closing {
  readonly ids: readonly string[]
  readonly bounds: Partial<Bounds>
  readonly other: Neighbour | null
  readonly leaseMs: number
}

async function finish(arena: Omit<Arena, 'finish'>, { ids, bounds, other, leaseMs }: Closing): Promise<RowResult> {
  const { lane, crew, score, history, ledger, neighbour, noise } = arena
  const entered = await ledger.read()
  await crew.close()
  await ledger.close()
  noise.stop()
  const stored = await readAll(lane, defaultDatabase, ids)
  const byId = new Map(stored.map((one) => [one.id, one]))
  const ending = (id: string) => endingOf(byId.get(id) as StoredConversation)
  const { trials, intended, fired, counts, peaks, mishaps, twins, memory } = score
  const empty = emptyEvidence(history)
  const evidence: Evidence = {
    ...empty,
    ledger: entered,
    conversations: stored,
    bounds: onThisMachine({ ...empty.bounds, recoveryMs: recoveryBoundMs + leaseMs, ...bounds }, arena),
    faults: { intended, fired },
    recoveriesMs: stored.flatMap((one) => recoveriesOf(one, crew.deaths)),
    endings: twins.map(({ name, id, calm }) => ({ name, faulty: ending(id), calm: ending(calm) })),
    readings: readingsOf(arena, other),
    memory,
    canaries: [{ value: hiddenValue, tenant: null }, ...(other?.canaries ?? [])],
  }
  const both = other === null ? [evidence] : apart(evidence, neighbour.history, await readAll(lane, other.name, ids))
  const violations = [...mishaps, ...both.flatMap((one) => check(one))]
  return { trials, intended, fired, violations, recoveriesMs: evidence.recoveriesMs, counts, peaks }
}

/** A machine that is late for everybody is late for a cancel, too; and a dead server's work waits for the next one to start. */
function onThisMachine(bounds: Bounds, { noise, crew }: Pick<Arena, 'noise' | 'crew'>): Bounds {
  const lateMs = noise.worst()
  return {
    ...bounds,
    graceMs: bounds.graceMs + lateMs,
    recoveryMs: bounds.recoveryMs + lateMs + crew.slowestStartMs,
  }
}

/** The evidence of each database: a call belongs to the one whose log has it. */
function apart(evidence: Evidence, history: History, stored: readonly StoredConversation[]): readonly Evidence[] {
  const callsOf = (conversations: readonly StoredConversation[]) =>
    new Set(conversations.flatMap(({ entries }) => entries.map(({ place }) => place.call)))
  const without = (calls: ReadonlySet<string>): LedgerState => ({
    executions: evidence.ledger.executions.filter(({ callId }) => !calls.has(callId)),
    applied: evidence.ledger.applied.filter((callId) => !calls.has(callId)),
  })
  return [
    { ...evidence, ledger: without(callsOf(stored)) },
    {
      ...evidence,
      history,
      conversations: stored,
      ledger: without(callsOf(evidence.conversations)),
      endings: [],
      memory: [],
    },
  ]
}

function readingsOf({ crew, history, neighbour, readings }: Omit<Arena, 'finish'>, other: Neighbour | null) {
  const streams = (of: History, tenant: string) =>
    of.connections.map(({ frames, deltas }) => ({
      sink: 'an event stream',
      tenant,
      text: JSON.stringify([frames, deltas]),
    }))
  return [
    ...crew.said().map((text) => ({ sink: 'the output of a server', tenant: defaultDatabase, text })),
    ...streams(history, defaultDatabase),
    ...(other === null ? [] : streams(neighbour.history, other.name)),
    ...readings,
  ]
}

async function readAll(lane: Lane, database: string, ids: readonly string[]): Promise<readonly StoredConversation[]> {
  const store = await lane.openStore()
  const stored: StoredConversation[] = []
  for (const id of ids) stored.push(await readStored(store, database, id))
  await store.close()
  return stored
}

/** From each death to the first entry of the next owner, where the run had one. */
function recoveriesOf({ entries }: StoredConversation, deaths: readonly Death[]): readonly number[] {
  return entries.flatMap((entry) => {
    if (entry.type !== 'notice' || entry.body.code !== 'RUN_RECOVERED') return []
    const died = deaths.findLast(({ at }) => at <= entry.at)
    return died === undefined ? [] : [entry.at - died.at]
  })
}
