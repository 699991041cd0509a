/** A fold follows the order of the log, whoever is told of an append first. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Entry } from '@witan/protocol/entries'
import { parseAgent } from '../agent/parse.ts'
import type { AppendResult } from '../store/store.ts'
import { emptyState } from './fold.ts'
import { storedOf } from './stored-values.ts'
import { oneHistory } from './known-history.ts'
import { ConversationLog, type LogContext } from './log.ts'
import type { Recorded, BatchWriter } from './batches.ts'

const data = parseAgent({ id: 'root', model: 'play/model', instructions: 'Be brief.' })

function placed(call: string, appendNo: number): Pick<Entry, 'at' | 'place' | 'job' | 'epoch' | 'appendNo'> {
  const names = { document: 'chats/1', author: 'root', agentPath: 'root', invocation: call }
  return { at: 0, place: { call, parentCall: null, run: call, ...names }, job: call, epoch: 1, appendNo }
}

function startOf(call: string, seq: number): Entry {
  const own = { agent: 'root', revision: 1, toolCallId: null, message: 'go', parameters: {}, generated: null, map: {} }
  const rest = { history: 'agent', revisions: {}, initial: [], hidden: false, originRunId: null } as const
  return { type: 'start', kind: 'agent', body: { ...own, ...rest }, seq, ...placed(call, 1) }
}

function errorOf(call: string, seq: number): Entry {
  return { type: 'error', kind: 'agent', body: { code: 'INTERNAL', detail: 'over' }, seq, ...placed(call, 2) }
}

function saidTo(call: string): Entry {
  return { type: 'message', kind: null, body: { author: 'user', text: 'more' }, seq: 0, ...placed(call, 3) }
}

function logOf(context: Pick<LogContext, 'append' | 'read'>) {
  const about = { database: 'default', id: 'chats/1', rootAgent: 'root', maxModelIterationsPerCall: null }
  const state = emptyState({ ...about, stored: storedOf({}) })
  const log = new ConversationLog(state, { ...context, agents: () => data, stored: () => {}, history: oneHistory })
  return { state, log, end: (entry: Entry) => log.propose(() => ({ append: { ...append, entries: [entry] } })) }
}

const append = { database: 'default', conversation: 'chats/1' }

test('[I9] an own proposal that is read before it is told is folded in its place, and once', async () => {
  let stored: Entry[] = [startOf('c_1', 1)]
  const told = Promise.withResolvers<AppendResult>()
  const { state, log, end } = logOf({ append: () => told.promise, read: async (_, after) => stored.slice(after) })
  await log.catchUp()
  const appending = end(errorOf('c_1', 0))
  // Another process has begun the next run behind our end, and we hear of that first.
  stored = [...stored, errorOf('c_1', 2), startOf('c_2', 3)]
  await log.catchUp()
  told.resolve({ ok: true, before: 1, lastSeq: 2, jobs: [] })
  await appending
  assert.equal(state.run?.root.place.call, 'c_2')
  assert.ok(state.run?.root.active)
  assert.equal(state.seq, 3)
})

test('[I9] an own end between what others stored before and behind it is folded in its place', async () => {
  const stored = [startOf('c_1', 1)]
  const { state, log, end } = logOf({
    // Somebody wrote just before our end, and somebody else begins the next run just behind it.
    append: async () => {
      stored.push(errorOf('c_0', 2), errorOf('c_1', 3), startOf('c_2', 4))
      return { ok: true, before: 2, lastSeq: 3, jobs: [] }
    },
    read: async (_, after) => stored.slice(after),
  })
  await log.catchUp()
  await end(errorOf('c_1', 0))
  assert.equal(state.run?.root.place.call, 'c_2')
  assert.ok(state.run?.root.active)
  assert.equal(state.seq, 4)
})

test('[I9] two own proposals are folded in order, whatever others stored between them', async () => {
  const stored = [startOf('c_1', 1)]
  const reading = Promise.withResolvers<void>()
  const results = [
    { ok: true, before: 2, lastSeq: 3, jobs: [] },
    { ok: true, before: 4, lastSeq: 5, jobs: [] },
  ] as const
  let appends = 0
  let reads = 0
  const { state, log, end } = logOf({
    append: async () => results[appends++] as AppendResult,
    read: async (_, after) => {
      const upTo = reads++ === 1 ? 2 : 5
      if (upTo === 2) await reading.promise
      return stored.slice(after, upTo)
    },
  })
  await log.catchUp()
  stored.push(errorOf('c_0', 2), errorOf('c_1', 3), startOf('c_2', 4), errorOf('c_2', 5))
  // This read began before our ends were stored, and is told behind them.
  const early = log.catchUp()
  const ends = [end(errorOf('c_1', 0)), end(errorOf('c_2', 0))]
  await new Promise((resolve) => setImmediate(resolve))
  reading.resolve()
  await Promise.all([early, ...ends])
  assert.equal(state.run, null)
  assert.deepEqual([...(state.documents.values().next().value?.calls ?? [])], [])
  assert.equal(state.seq, 5)
})

test('[I9] what is read of an own entry that was folded and told meanwhile is not folded again', async () => {
  const stored = [startOf('c_1', 1)]
  const reading = Promise.withResolvers<void>()
  let reads = 0
  const { state, log, end } = logOf({
    append: async (member) => {
      stored.push(...member.entries.map((entry) => ({ ...entry, seq: 2 })))
      return { ok: true, before: 1, lastSeq: 2, jobs: [] }
    },
    read: async (_, after) => {
      if (reads++ === 1) await reading.promise
      return stored.slice(after)
    },
  })
  await log.catchUp()
  const slow = log.catchUp()
  await end(saidTo('c_1'))
  reading.resolve()
  await slow
  assert.deepEqual(
    state.documents.get('chats/1')?.inbox.map(({ text }) => text),
    ['more'],
  )
})

test('[I9] a read that began too early for an own append is followed by another one', async () => {
  const stored = [startOf('c_1', 1)]
  const reading = Promise.withResolvers<void>()
  let reads = 0
  const { state, log, end } = logOf({
    append: async () => {
      stored.push(startOf('c_0', 2), errorOf('c_1', 3))
      return { ok: true, before: 2, lastSeq: 3, jobs: [] }
    },
    read: async (_, after) => {
      const found = stored.slice(after)
      if (reads++ === 1) await reading.promise
      return found
    },
  })
  await log.catchUp()
  const early = log.catchUp()
  await new Promise((resolve) => setImmediate(resolve))
  const ended = end(errorOf('c_1', 0))
  await new Promise((resolve) => setImmediate(resolve))
  reading.resolve()
  await Promise.all([early, ended])
  assert.equal(state.seq, 3)
})

/** A writer that stores its batches under a name, and notes what became of them. */
function writerOf(log: ConversationLog, job: string, told: string[]): BatchWriter {
  return {
    store: ({ entries }) =>
      void log.sync
        .append({ ...append, fence: { job, epoch: 1 }, entries }, [])
        .then((result) => told.push(`${job} ${result.ok}`)),
  }
}

test('[O1] [O4] batches are stored in the order in which they were recorded, each under its own fence', async () => {
  const appends: string[] = []
  const told: string[] = []
  let seq = 0
  const { log } = logOf({
    append: async ({ fence, entries }) => {
      appends.push(`${fence?.job} ${entries.map(({ appendNo }) => appendNo).join()}`)
      if (fence?.job === 'c_1') return { ok: false, reason: 'fenced', job: null }
      const before = seq
      seq += entries.length
      return { ok: true, before, lastSeq: seq, jobs: [] }
    },
    read: async () => [],
  })
  const [one, other] = [writerOf(log, 'c_1', told), writerOf(log, 'c_2', told)]
  const said = (appendNo: number) => ({ ...saidTo('c_1'), appendNo })
  log.record(one, said(5))
  log.record(one, said(6))
  log.record(other, said(7))
  log.record(one, said(8))
  log.flush()
  log.flush()
  await new Promise((resolve) => setImmediate(resolve))
  assert.deepEqual(appends, ['c_1 5,6', 'c_2 7', 'c_1 8'])
  assert.deepEqual(told, ['c_1 false', 'c_2 true', 'c_1 false'])
})

test('[O2] a proposal decides behind the one in front, and nothing is recorded meanwhile', async () => {
  const done: string[] = []
  const answers = [Promise.withResolvers<AppendResult>(), Promise.withResolvers<AppendResult>()]
  let appends = 0
  const { log } = logOf({ append: () => (answers[appends++] as (typeof answers)[0]).promise, read: async () => [] })
  const writer = writerOf(log, 'c_1', [])
  const propose = (name: string, entry: Entry) =>
    log.propose(() => {
      done.push(`${name} decides`)
      return { append: { ...append, entries: [entry] } }
    })
  const first = propose('first', startOf('c_1', 0))
  const second = propose('second', errorOf('c_1', 0))
  assert.deepEqual(done, ['first decides'])
  assert.throws(() => log.record(writer, saidTo('c_1')), /while a proposal was under way/)
  log.proposals.afterwards(() => void done.push('recorded between'))
  answers[0]?.resolve({ ok: true, before: 0, lastSeq: 1, jobs: [] })
  await first
  await new Promise((resolve) => setImmediate(resolve))
  assert.deepEqual(done, ['first decides', 'recorded between', 'second decides'])
  answers[1]?.resolve({ ok: true, before: 1, lastSeq: 2, jobs: [] })
  await second
  assert.equal(log.state.run, null)
  assert.equal(log.sync.expectedSeq, 2)
})

test('[O2] a refused proposal leaves what its writer recorded, which goes out next', async () => {
  const appends: string[] = []
  const { log } = logOf({
    append: async ({ entries }) => {
      appends.push(entries.map(({ appendNo }) => appendNo).join())
      if (appends.length === 1) return { ok: false, reason: 'woken', job: null }
      return { ok: true, before: 0, lastSeq: entries.length, jobs: [] }
    },
    read: async () => [],
  })
  const writer = writerOf(log, 'c_1', [])
  log.record(writer, startOf('c_1', 0))
  const end = errorOf('c_1', 0)
  const ending = (tail: Recorded | null) => ({
    append: { ...append, entries: [...(tail?.entries ?? []), end] },
    fresh: [end],
  })
  await log.propose(ending, writer)
  assert.ok(log.state.run !== null)
  await log.propose(ending, writer)
  assert.equal(log.state.run, null)
  assert.deepEqual(appends, ['1,2', '1,2'])
})

test('[O2] a proposal that cannot be made leaves what its writer recorded, and does not hold the next one up', async () => {
  const appends: string[] = []
  const { log } = logOf({
    append: async ({ entries }) => {
      appends.push(entries.map(({ appendNo }) => appendNo).join())
      return { ok: true, before: appends.length - 1, lastSeq: appends.length, jobs: [] }
    },
    read: async () => [],
  })
  const writer = writerOf(log, 'c_1', [])
  log.record(writer, startOf('c_1', 0))
  const broken = log.propose(() => {
    throw new Error('no entry')
  }, writer)
  await assert.rejects(broken, /no entry/)
  await log.propose(() => ({ append: { ...append, entries: [saidTo('c_1')] } }))
  assert.deepEqual(appends, ['1', '3'])
})
