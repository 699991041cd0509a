/** What the conformance tests of stores are made of: entries, conversations and jobs with little in them. */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { Interruption } from '@witan/protocol'
import type { Entry } from '@witan/protocol/entries'
import type { Append, AppendResult, ConversationRow, InterruptionRow, JobRow, Store } from '../../store/store.ts'

/** A store under test. Tests never share what is stored. */
export interface StoreHarness {
  readonly name: string
  /** Opens a store with nothing in it; what must be cleaned up once the test is over is left to `test.after`. */
  open(test: TestContext): Promise<Store>
  /** Closes the store and opens another one on the same data. Left out where nothing outlives the store. */
  reopen?(store: Store): Promise<Store>
}

/** Registers one test with a store of its own. */
export type Check = (name: string, body: (store: Store) => Promise<void>) => void

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

/** Makes a conversation with one entry and no job. */
export async function start(store: Store, id: string, over: Partial<ConversationRow> = {}): Promise<void> {
  const create = conversation(id, over)
  const append = { database: create.database, conversation: id, create, entries: [entry('hello')] }
  assert.equal((await store.append(append)).ok, true)
}

/** A job to be made: its owner, and until when it is leased; by default long. */
export interface NewJob {
  readonly id: string
  readonly owner?: string
  readonly leaseUntil?: number
  readonly in?: string
}

/** The change that makes a job. */
export function newJob(store: Store, { id, owner = 'w1', leaseUntil = store.now() + 600_000 }: NewJob): Append['job'] {
  return { kind: 'create', id, owner, leaseUntil, startedAt: 5 }
}

/** Makes a conversation, named after the job unless told, with a job at work in it. */
export async function begin(store: Store, job: NewJob, at = database): Promise<JobRow> {
  const id = job.in ?? `chats/${job.id}`
  const create = conversation(id, { database: at })
  const append = { database: at, conversation: id, create, entries: [entry('hello', job.id)], job: newJob(store, job) }
  const result = await store.append(append as Append)
  assert.ok(result.ok && result.job !== null)
  return result.job
}

/** The parts of an append that name its conversation and its writer. */
export function by({ database, conversation, id, epoch }: JobRow) {
  return { database, conversation, fence: { job: id, epoch } }
}

/** The change that parks or ends a job. */
export function rest(id: string, status: 'waiting' | 'completed' | 'failed' = 'completed'): Append['job'] {
  return { kind: 'rest', id, status, result: { text: 'done', path: [1, null] }, at: 9 }
}

/** The change that wakes a job for `w2`. */
export function wake(store: Store, id: string): Append['job'] {
  return { kind: 'wake', id, owner: 'w2', leaseUntil: store.now() + 600_000 }
}

/** An open interruption of a job. */
export function interruption(job: JobRow, id: string): InterruptionRow {
  const names = { id, kind: 'action', path: 'ask', agent: 'clerk', callId: 'c1', name: 'ask' } as const
  const view: Interruption = { ...names, addressee: null, state: 'open', expiresAt: null, arguments: { city: 'Ås' } }
  const settled = { answer: null, answeredBy: null, settledAt: null }
  const { database, conversation } = job
  return { database, conversation, job: job.id, call: 'c1', view, bound: { secret: 'x' }, createdAt: 7, ...settled }
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
