/** Random commands to a store and to the store in memory must give the same results and the same final state. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { memoryStore } from '../../store/drivers/memory.ts'
import type { Reservation } from '../../store/reply-records.ts'
import type { Append, JobChange, JobRow, Store } from '../../store/store.ts'
import {
  conversation,
  database,
  entry,
  future,
  interruption,
  past,
  reply,
  settlement,
  type StoreHarness,
  wholePage,
} from './store-fixtures.ts'

/** A command, and its name in a failure. */
interface Command {
  readonly told: unknown
  readonly run: (store: Store) => Promise<unknown>
}

/** Counters for ids, so that none is used twice. */
interface Draw {
  readonly random: () => number
  jobs: number
  interruptions: number
  /** The last created job of a conversation. */
  readonly latest: Map<string, string>
  /** The last begun reply, new or not. */
  begun: Reservation
}

/** Numbers from 0 to 1; the same for the same seed. */
function numbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

function upTo({ random }: Draw, count: number): number {
  return Math.floor(random() * count)
}

function pick<Item>(draw: Draw, ...items: readonly [Item, ...Item[]]): Item {
  return items[upTo(draw, items.length)] as Item
}

/** A made value with this probability, else undefined. */
function maybe<Value>({ random }: Draw, make: () => Value, share = 0.4): Value | undefined {
  return random() < share ? make() : undefined
}

/** A limit that only increases; replies begun before it count as removed. */
const expiresBefore = 1

const conversationId = (draw: Draw) => `chats/${upTo(draw, 3)}`
const databaseId = (draw: Draw) => pick(draw, 'default', 'default', 'other')
const jobId = (draw: Draw) => `j${upTo(draw, 6)}`
const key = (draw: Draw) => pick(draw, 'k1', 'k2')
const reservation = (draw: Draw) => ({ key: key(draw), at: expiresBefore + upTo(draw, 3) })
const note = (draw: Draw) => ({
  ...pick(draw, draw.begun, draw.begun, reservation(draw)),
  text: pick(draw, 'one', 'two', null),
})
const leaseMs = (draw: Draw) => pick(draw, -past, 600_000)
const owner = (draw: Draw) => pick(draw, 'w1', 'w1', 'w2', null)
const texts = ['', 'more', 'Ås ☔ 日本', '\u0000 "\\', '👩‍👩‍👧']

function changeOf(draw: Draw, conversation: string): JobChange {
  const at = 5 + draw.jobs
  const kind = pick(draw, 'create', 'create', 'wake', 'wake', 'rest')
  if (kind === 'create') {
    const id = `j${draw.jobs++}`
    draw.latest.set(conversation, id)
    return { kind, id, job: pick(draw, 'run', 'task'), owner: owner(draw), leaseMs: leaseMs(draw), at, about: { id } }
  }
  const id = pick(draw, draw.latest.get(conversation) ?? 'none', draw.latest.get(conversation) ?? 'none', jobId(draw))
  if (kind === 'wake') return { kind, id, owner: owner(draw), leaseMs: leaseMs(draw) }
  const status = pick(draw, 'waiting', 'completed', 'failed', 'cancelled')
  return { kind, id, status, result: { at }, at }
}

/** Changes of different jobs, as the contract requires. */
function changesOf(draw: Draw, conversation: string): readonly JobChange[] {
  const changes = Array.from({ length: 1 + upTo(draw, 3) }, () => changeOf(draw, conversation))
  return [...new Map(changes.map((one) => [one.id, one])).values()]
}

/** Most of these are refused. */
function anyAppend(draw: Draw): Append {
  const [at, id] = [databaseId(draw), conversationId(draw)]
  const job = { database: at, conversation: id, id: 'j0' } as JobRow
  const given = {
    create: maybe(draw, () => conversation(id, { database: at, expiresAt: pick(draw, null, null, past, future) })),
    fence: maybe(draw, () => ({ job: jobId(draw), epoch: upTo(draw, 3) })),
    ifLastSeq: maybe(draw, () => upTo(draw, 5)),
    jobs: maybe(draw, () => changesOf(draw, id)),
    open: maybe(draw, () => [
      interruption(job, `i${draw.interruptions++}`, { expiresAt: pick(draw, null, past, future) }),
    ]),
    settle: maybe(draw, () => [settlement(`i${upTo(draw, 4)}`, { answer: upTo(draw, 9) })], 0.3),
    messageAt: maybe(draw, () => upTo(draw, 1000)),
    hide: maybe(draw, () => [pick(draw, 'region', 'other')]),
    note: maybe(draw, () => note(draw), 0.2),
    runLimit: maybe(draw, () => ({ createdBy: 'user:anna', most: 1 + upTo(draw, 3) }), 0.3),
  }
  const set = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
  return { database: at, conversation: id, entries: entriesOf(draw), ...set }
}

/** Most of these are accepted. */
function changing(draw: Draw): Append {
  const id = conversationId(draw)
  const noted = maybe(draw, () => ({ note: note(draw) }), 0.15)
  return { database, conversation: id, entries: entriesOf(draw), jobs: changesOf(draw, id), ...noted }
}

function entriesOf(draw: Draw) {
  return Array.from({ length: upTo(draw, 3) }, () => entry(texts[upTo(draw, texts.length)] ?? ''))
}

function anyCommand(draw: Draw): Command {
  const kind = upTo(draw, 20)
  if (kind < 12) {
    const append = kind < 6 ? anyAppend(draw) : changing(draw)
    const told = ['append', { ...append, entries: append.entries.length }]
    return { told, run: (store) => store.append(structuredClone(append)) }
  }
  if (kind < 15) return jobCommand(draw)
  return kind < 18 ? otherCommand(draw) : beginCommand(draw)
}

function jobCommand(draw: Draw): Command {
  const [worker, id, epoch, lease] = [pick(draw, 'w1', 'w2'), jobId(draw), 1 + upTo(draw, 3), leaseMs(draw)]
  const ids = maybe(draw, () => [jobId(draw), jobId(draw)])
  return pick<Command>(
    draw,
    {
      told: ['claim', lease],
      run: async (store) => ordered(await store.claimJobs({ owner: 'w2', leaseMs: lease, limit: 50 })),
    },
    {
      told: ['heartbeat', worker, id, epoch],
      run: (store) => store.heartbeat(worker, [{ database, id, epoch }], -past),
    },
    {
      told: ['release', worker, ids],
      run: (store) =>
        store.releaseJobs(
          worker,
          ids?.map((id) => ({ database, id })),
        ),
    },
  )
}

function otherCommand(draw: Draw): Command {
  const [from, to, id, of] = [databaseId(draw), databaseId(draw), conversationId(draw), reservation(draw)]
  const told = pick(draw, null, { status: 200, body: 'done' })
  return pick<Command>(
    draw,
    { told: 'sweep', run: swept },
    { told: ['delete', from, id], run: (store) => store.deleteConversation(from, id) },
    { told: ['move', from, to, id], run: (store) => move(store, { from, to, id }) },
    { told: ['finish', of, told], run: (store) => store.finishReply(database, of, told) },
  )
}

function beginCommand(draw: Draw): Command {
  draw.begun = reservation(draw)
  const { key: of, at } = draw.begun
  // No note names an outdated reply, since a store may or may not have swept it.
  const row = reply(of, { at: pick(draw, at, at, 0), expiresBefore, lostBefore: expiresBefore + upTo(draw, 3) })
  return { told: ['begin', row], run: (store) => store.beginReply(database, row) }
}

function ordered<Row extends { readonly id: string }>(rows: readonly Row[]): readonly Row[] {
  return rows.toSorted((one, other) => (one.id < other.id ? -1 : 1))
}

/** If two expire at the same time, either may be deleted first. */
async function swept(store: Store): Promise<readonly string[]> {
  return (await store.sweepConversations(10)).map(({ database: at, id }) => `${at} ${id}`).sort()
}

async function move(store: Store, { from, to, id }: { from: string; to: string; id: string }): Promise<boolean | null> {
  const snapshot = await store.readSnapshot(from, id)
  return snapshot === null ? null : store.putSnapshot(to, structuredClone(snapshot))
}

async function stateOf(store: Store, at: string): Promise<unknown> {
  const rows = await store.listConversations(at, { ...wholePage, agent: null, createdBy: null })
  const inside = rows.map(async ({ id }) => [
    ordered(await store.listJobs(at, id)),
    ordered(await store.listJobs(at, id, { live: true })),
    await store.listRuns(at, id, wholePage),
    await store.countRuns(at, id),
    await store.readEntries(at, id, { after: 0, limit: 1000 }),
    await store.listInterruptions(at, { ...wholePage, state: null, conversation: id, addressees: null }),
  ])
  return [
    rows,
    await Promise.all(inside),
    ordered(await store.listTasks(at, { ...wholePage, live: null })),
    await store.listInterruptions(at, { ...wholePage, state: 'open', conversation: null, addressees: null }),
    await store.beginReply(at, reply('k1', { expiresBefore })),
    (await store.dueInterruptions(100)).map(({ view }) => view.id).sort(),
    await store.listDatabases(),
  ]
}

/** Removes leases and start times, since the clock advances between the two stores. */
function withoutTimes(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value ?? null, (name, one) =>
      name === 'leaseUntil' || name === 'changedAt' || (name === 'startedAt' && one !== null) ? 0 : one,
    ),
  )
}

const outcomes = [
  'stored',
  'noted',
  'reply-taken',
  'exists',
  'missing',
  'fenced',
  'moved',
  'active',
  'inactive',
  'woken',
  'settled',
]

/** Registers the test that sends the same random commands to a store and to the store in memory, `runs` times forty. */
export function testAgainstMemory(harness: StoreHarness, runs: number): void {
  test(`${harness.name}: random commands have the results that they have in memory`, async (context) => {
    const seen = new Set<string>()
    for (let run = 1; run <= runs; run += 1) {
      const begun = { key: 'k1', at: expiresBefore }
      const draw = { random: numbers(run), jobs: 0, interruptions: 0, latest: new Map<string, string>(), begun }
      const stores = [memoryStore(), await harness.open(context)] as const
      for (const id of ['chats/0', 'chats/1', 'chats/2']) {
        const append = { database, conversation: id, create: conversation(id), entries: [] }
        for (const store of stores) assert.ok((await store.append(append)).ok)
      }
      const past: unknown[] = []
      for (let count = 0; count < 40; count += 1) {
        const command = anyCommand(draw)
        past.push(command.told)
        const expected = await command.run(stores[0])
        assertSame(await command.run(stores[1]), expected, past)
        mark(seen, expected, command)
      }
      for (const at of ['default', 'other']) {
        assertSame(await stateOf(stores[1], at), await stateOf(stores[0], at), past)
      }
      await stores[1].close()
    }
    assert.deepEqual(
      outcomes.filter((one) => !seen.has(one)),
      [],
      'every outcome of an append was seen',
    )
  })
}

/** Reports a failure with all earlier commands. */
function assertSame(actual: unknown, expected: unknown, past: readonly unknown[]): void {
  try {
    assert.deepEqual(withoutTimes(actual), withoutTimes(expected))
  } catch (error) {
    throw new Error(past.map((one) => JSON.stringify(one)).join('\n'), { cause: error })
  }
}

/** Counts stored appends with a note separately, because they are rare. */
function mark(seen: Set<string>, result: unknown, { told }: Command): void {
  const { ok, reason } = (result ?? {}) as { ok?: boolean; reason?: string }
  if (ok !== undefined) seen.add(reason ?? (JSON.stringify(told).includes('"note":') ? 'noted' : 'stored'))
}
