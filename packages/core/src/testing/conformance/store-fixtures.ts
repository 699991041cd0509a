/** Fixtures of the conformance tests of stores: minimal entries, conversations and jobs. */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { Interruption } from '@witan/protocol'
import type { Entry } from '@witan/protocol/entries'
import type { KeyRow } from '../../store/keys.ts'
import type { StoreListener } from '../../store/listener.ts'
import type {
  AppendResult,
  ConversationRow,
  InterruptionRow,
  JobChange,
  JobKind,
  JobRow,
  JobStatus,
  Settlement,
  Store,
} from '../../store/store.ts'

/** A store under test. Tests share no data and never wait for a clock: a lapsed lease is created with a negative length. */
export interface StoreHarness {
  readonly name: string
  /** Opens an empty store. Clean up in `test.after`. */
  open(test: TestContext): Promise<Store>
  /** Closes the store and opens another on the same data; or the reason why the data would be lost. */
  readonly reopen: ((store: Store) => Promise<Store>) | string
  /** Opens another store on the same data while this one stays open, as another process does; or the reason why this is impossible. */
  readonly second: ((store: Store) => Promise<Store>) | string
}

/** Registers a test with its own store. */
export type Check = (name: string, body: (store: Store) => Promise<void>) => void

/** Registers a test with two stores on the same data. Skipped with the reason if two cannot be open. */
export type CheckTwo = (name: string, body: (first: Store, second: Store) => Promise<void>) => void

/** A listener that watches nothing and ignores everything. A test replaces the methods it needs. */
export const idleListener: StoreListener = {
  appended() {},
  due() {},
  gone() {},
  received() {},
  watched: () => [],
  historyChanged() {},
  listening() {},
  ignored() {},
}

/** The database of nearly all tests. */
export const database = 'default'

let appendNo = 0

/** A message with this text. It belongs to the job of this name, which need not exist. */
export function entry(text: string, job = 'job'): Entry {
  appendNo += 1
  const call = { call: job, parentCall: null, run: job, invocation: job }
  const place = { ...call, document: 'chats/1', author: 'user', agentPath: 'clerk' }
  return { type: 'message', kind: null, body: { author: 'user', text }, seq: 0, at: 1, place, job, epoch: 1, appendNo }
}

/** A row for a conversation of this id. */
export function conversation(id: string, over: Partial<ConversationRow> = {}): ConversationRow {
  const times = { createdAt: 1, lastMessageAt: 1, lastSeq: 0 }
  const given = { parameters: { region: ['north', false] as const }, maxModelIterationsPerCall: null, expiresAt: null }
  return { database, id, agent: 'clerk', createdBy: 'user:anna', ...times, ...given, ...over }
}

/** Creates a conversation with one entry and no job. */
export async function start(store: Store, id: string, over: Partial<ConversationRow> = {}): Promise<void> {
  const create = conversation(id, over)
  const append = { database: create.database, conversation: id, create, entries: [entry('hello')] }
  assert.equal((await store.append(append)).ok, true)
}

/** A job to create: its owner, by default `w1`, and its lease, by default long. */
interface NewJob {
  readonly id: string
  readonly kind?: JobKind
  readonly owner?: string | null
  /** Negative for a lease that has lapsed already. */
  readonly leaseMs?: number
  readonly at?: number
  readonly in?: string
}

/** The `about` of the tests' jobs. */
export const about = { message: 'Grüße ☔', deep: [{ n: 1 }, null] }

/** The change that creates a job. */
export function newJob({ id, kind = 'run', owner = 'w1', leaseMs = 600_000, at = 5 }: NewJob): JobChange {
  return { kind: 'create', id, job: kind, owner, leaseMs, at, about }
}

/** Creates a conversation with a running job. Its id is the job's by default. */
export async function begin(store: Store, job: NewJob, at = database): Promise<JobRow> {
  const id = job.in ?? `chats/${job.id}`
  const create = conversation(id, { database: at })
  const append = { database: at, conversation: id, create, entries: [entry('hello', job.id)], jobs: [newJob(job)] }
  return onlyJob(await store.append(append))
}

/** The id of a new conversation of this creator, with these people and a running job. */
export async function beginFor(
  store: Store,
  job: string,
  {
    people = [],
    ...of
  }: Pick<ConversationRow, 'createdBy'> &
    Partial<Pick<ConversationRow, 'agent'>> & { readonly people?: readonly string[] },
): Promise<string> {
  const create = conversation(`chats/${job}`, of)
  const participants = people.map((user) => ({ user, name: null, roles: [], joinedAt: 1, leftAt: null }))
  const entries = [entry('hello', job)]
  onlyJob(
    await store.append({
      database,
      conversation: create.id,
      create,
      entries,
      jobs: [newJob({ id: job })],
      participants,
    }),
  )
  return create.id
}

/** Adds a job to an existing conversation. */
export async function addJob(store: Store, job: NewJob & { readonly in: string }): Promise<JobRow> {
  const append = { database, conversation: job.in, entries: [entry('more', job.id)], jobs: [newJob(job)] }
  return onlyJob(await store.append(append))
}

/** The one job that an append changed. */
export function onlyJob(result: AppendResult): JobRow {
  assert.ok(result.ok, result.ok ? '' : result.reason)
  assert.equal(result.jobs.length, 1)
  return result.jobs[0] ?? assert.fail()
}

/** An existing job. */
export async function jobOf(store: Store, id: string, at = database): Promise<JobRow> {
  return (await store.getJob(at, id)) ?? assert.fail(`there is no job ${id}`)
}

/** The parts of an append that name its conversation and its writer. */
export function by({ database, conversation, id, epoch }: JobRow) {
  return { database, conversation, fence: { job: id, epoch } }
}

/** The change that parks or ends a job. */
export function rest(id: string, status: Exclude<JobStatus, 'queued' | 'running'> = 'completed'): JobChange {
  return { kind: 'rest', id, status, result: { text: 'done', path: [1, null] }, at: 9 }
}

/** The change that records progress of a job. */
export function progress(id: string): JobChange {
  return { kind: 'progress', id }
}

/** The change that wakes a job for `w2`, or for any worker. */
export function wake(id: string, owner: string | null = 'w2'): JobChange {
  return { kind: 'wake', id, owner, leaseMs: 600_000 }
}

/** An append from outside that changes one job. */
export function change({ database, conversation, id }: JobRow, how: JobChange) {
  return { database, conversation, entries: [entry('change', id)], jobs: [how] }
}

/** An open interruption of a job. */
export function interruption(job: JobRow, id: string, over: Partial<InterruptionRow> = {}): InterruptionRow {
  const names = { id, kind: 'action', path: 'ask', agent: 'clerk', callId: 'c1', name: 'ask' } as const
  const view: Interruption = { ...names, addressee: null, state: 'open', expiresAt: null, arguments: { city: 'Ås' } }
  const settled = { answer: null, answeredBy: null, settledAt: null, expiresAt: null }
  const { database, conversation } = job
  const given = { view, bound: { secret: 'x' }, terms: { schema: { type: 'string' }, limit: [1, 'å'] }, createdAt: 7 }
  return { database, conversation, job: job.id, call: 'c1', ...given, ...settled, ...over }
}

/** A remembered reply to begin. */
export function reply(key: string, over: Partial<NewReply> = {}): NewReply {
  return { key, digest: 'd', at: 100, expiresBefore: 0, lostBefore: 0, ...over }
}

type NewReply = Parameters<Store['beginReply']>[1]

/** A key to store. */
export function key(id: string, over: Partial<KeyRow> = {}): KeyRow {
  const about = { holder: `user:${id}`, roles: ['run', 'buyer ☔'], name: null, address: null, createdBy: 'user:local' }
  const times = { createdAt: 100, expiresAt: null, lastUsedAt: null }
  return { database, id, digest: `sha256:${id}`, ...about, ...times, ...over }
}

/** A page that is large enough for everything. */
export const wholePage = { limit: 100, after: null }

/** All interruptions of a conversation, or of all. */
export function interruptionsOf(store: Store, conversation: string | null = null): Promise<readonly InterruptionRow[]> {
  return store.listInterruptions(database, { ...wholePage, state: null, conversation, addressees: null })
}

/** The ids of rows. */
export function idsOf(rows: readonly { readonly id: string }[]): readonly string[] {
  return rows.map(({ id }) => id)
}

/** Claims all due jobs and returns their ids in order. */
export async function claim(store: Store, owner: string, leaseMs = 3_600_000): Promise<readonly string[]> {
  return idsOf(await store.claimJobs({ owner, leaseMs, limit: 50 })).toSorted()
}

/** A time in the distant past. */
export const past = 1000
/** A time in the distant future. */
export const future = 9e15

/** The change that settles an interruption. */
export function settlement(id: string, over: Partial<Settlement> = {}): Settlement {
  return { id, state: 'answered', answer: 'yes', by: 'user:anna', at: 8, ...over }
}

/** Asserts a refusal for this reason. */
export function assertRefused(result: AppendResult, reason: string): void {
  assert.equal(result.ok ? 'stored' : result.reason, reason)
}

/** The texts of all entries of a conversation, read in pages; asserts that their seqs have no gap. */
export async function textsOf(store: Store, conversation: string, pageSize = 7): Promise<readonly string[]> {
  const texts: string[] = []
  for (;;) {
    const page = await store.readEntries(database, conversation, { after: texts.length, limit: pageSize })
    for (const { seq, body } of page) {
      texts.push((body as { text: string }).text)
      assert.equal(seq, texts.length)
    }
    if (page.length < pageSize) return texts
  }
}
