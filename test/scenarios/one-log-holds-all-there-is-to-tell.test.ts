/** The log: numbered without a gap as it is appended, the source of every view, and worked on by one owner at a time. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { memoryStore, type Runtime, type Store, sqliteStore } from '@witan/core'
import { call, lastUserMessage, type Rule } from '@witan/core/testing'
import type { AnyEvent } from '@witan/protocol'
import { storedEntries } from '../support/claims.ts'
import { fakeClock } from '../support/clock.ts'
import { crashingStore } from '../support/crashing-store.ts'
import { outliving } from '../support/reopen.ts'
import { type AgentDraft, createStage, type Stage, until } from '../support/stage.ts'

type Append = Parameters<Store['append']>[0]
type AppendResult = Awaited<ReturnType<Store['append']>>

const stores: Readonly<Record<string, (context: TestContext) => Store>> = {
  memory: () => memoryStore(),
  sqlite: (context) => {
    const folder = mkdtempSync(join(tmpdir(), 'witan-log-'))
    context.after(() => rmSync(folder, { recursive: true, force: true }))
    return sqliteStore({ file: join(folder, 'store.db'), synchronous: 'normal' })
  },
}

const agents: readonly AgentDraft[] = [
  { id: 'root', subAgents: [{ agent: 'one' }, { agent: 'two' }], actions: [{ name: 'Ask' }] },
  { id: 'one' },
  { id: 'two', subAgents: [{ agent: 'one' }] },
]
const fanOut: Rule = (request, turn) =>
  turn > 0 || lastUserMessage(request) === 'more'
    ? 'done'
    : { toolCalls: ['one', 'two', 'one'].map((name, index) => ({ name, arguments: { message: `${name} ${index}` } })) }
const plays = {
  root: fanOut,
  one: (request: Parameters<Rule>[0]) => `heard ${lastUserMessage(request)}`,
  two: [call('one', { message: 'deeper' }), 'two done'],
}

test('[D7] entries are numbered 1 to n as they are appended, in each conversation by itself', async (context) => {
  for (const [name, open] of Object.entries(stores)) {
    const inner = open(context)
    const stored: { append: Append; result: AppendResult }[] = []
    const append = async (member: Append): Promise<AppendResult> => {
      const result = await inner.append(member)
      stored.push({ append: member, result })
      return result
    }
    const store = new Proxy(inner, {
      get(target, key) {
        const member: unknown = key === 'append' ? append : Reflect.get(target, key, target)
        return typeof member === 'function' && key !== 'append' ? member.bind(target) : member
      },
    })
    const stage = createStage({ agents, plays, options: { store } })
    const ids = ['chats/1', 'chats/2', 'chats/3']
    // Three trees at once, and messages from outside that join them while they work.
    const asked = ids.map((id) => stage.ask('root', 'go', { id }))
    await until(() => stage.requests.length > 6)
    const joined = ids.map((id) => stage.run(id, { prompt: 'more' }))
    await Promise.all([...asked, ...joined])
    // What is refused takes no number.
    await assert.rejects(stage.run('chats/1', { prompt: 'more', ifLastSeq: 1 }))
    await stage.run('chats/1', { prompt: 'more' })
    for (const id of ids) {
      const seqs = (await storedEntries(store, id)).map(({ seq }) => seq)
      assert.ok(seqs.length > 20)
      assert.deepEqual(
        seqs,
        seqs.map((_, index) => index + 1),
        `${name}: ${id}`,
      )
      let last = 0
      for (const { append, result } of stored) {
        if (append.conversation !== id || !result.ok) continue
        assert.equal(result.before, last, `${name}: the append begins where the one before ended`)
        assert.equal(result.lastSeq, last + append.entries.length)
        assert.deepEqual(
          append.entries.map(({ seq }) => seq),
          append.entries.map((_, index) => last + index + 1),
        )
        last = result.lastSeq
      }
      assert.equal(last, seqs.length)
    }
    await stage.runtime.close()
  }
})

/** All that can be read of a conversation. */
async function views(runtime: Runtime, run: string): Promise<unknown> {
  const live: AnyEvent[] = []
  const leaving = new AbortController()
  const { lastSeq } = await runtime.getConversation('chats/1')
  for await (const event of runtime.followEvents('chats/1', { verbose: true, signal: leaving.signal })) {
    live.push(event)
    if (event.seq === lastSeq) leaving.abort()
  }
  const page = await runtime.readEvents('chats/1', { verbose: true, limit: 1000 })
  const terse = await runtime.readEvents('chats/1', { limit: 1000 })
  const paths = ['chats/1', 'chats/1/one', 'chats/1/two', 'chats/1/two/one']
  return {
    events: page.events,
    live,
    terse: terse.events,
    documents: await Promise.all(paths.map((path) => runtime.getDocument(path))),
    run: await runtime.getRun(run),
    conversation: await runtime.getConversation('chats/1'),
  }
}

test('[C32] there is one log, and every stream and page is a view of it', async () => {
  const store = outliving(memoryStore())
  const first = createStage({ agents, plays, options: { store } })
  const { runId } = await first.ask('root', 'go', { id: 'chats/1' })
  const seen = (await views(first.runtime, runId)) as { events: AnyEvent[]; live: AnyEvent[]; terse: AnyEvent[] }
  const entries = await storedEntries(store, 'chats/1')
  const place = (one: { seq?: number | undefined; type: string; kind: unknown }) => `${one.seq} ${one.type} ${one.kind}`
  assert.deepEqual(seen.events.map(place), entries.map(place))
  const followed = seen.live.filter(({ seq }) => seq !== undefined)
  assert.deepEqual(followed, seen.events)
  assert.deepEqual(
    seen.terse,
    seen.events.filter(({ callId }) => callId === runId),
  )
  // Somebody who has nothing but the log tells the same.
  const second = createStage({ agents, plays: {}, options: { store } })
  assert.deepEqual(await views(second.runtime, runId), seen)
  assert.equal(second.requests.length, 0)
})

/** A runtime on the store that notes which jobs it got, and how often its model was asked. */
function claiming(
  inner: Store,
  clock: ReturnType<typeof fakeClock>,
): { readonly stage: Stage; readonly got: string[] } {
  const got: string[] = []
  const store = new Proxy(inner, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target)
      if (typeof member !== 'function') return member
      if (name !== 'claimJobs') return member.bind(target)
      return async (claim: Parameters<Store['claimJobs']>[0]) => {
        const jobs = await target.claimJobs({ ...claim, limit: 3 })
        got.push(...jobs.map(({ id }) => id))
        return jobs
      }
    },
  })
  const stage = createStage({
    agents: [{ id: 'root' }],
    plays: { root: () => 'done' },
    options: { store, clock },
  })
  return { stage, got }
}

test('[D6] of workers that claim at the same moment, one gets each job', async (context) => {
  for (const name of Object.keys(stores)) {
    const clock = fakeClock()
    const folder = mkdtempSync(join(tmpdir(), 'witan-log-'))
    context.after(() => rmSync(folder, { recursive: true, force: true }))
    const real =
      name === 'memory'
        ? memoryStore({ now: clock.now })
        : sqliteStore({ file: join(folder, 'store.db'), synchronous: 'normal', now: clock.now })
    const ids = Array.from({ length: 8 }, (_, index) => `chats/${index}`)
    await real.open()
    const inner = new Proxy(outliving(real), {
      get: (target, key) => (key === 'open' ? async () => {} : Reflect.get(target, key, target)),
    })
    // A process that dies at its ninth append: all runs were accepted, none has ended.
    const crash = crashingStore(inner, ids.length + 1)
    const dead = createStage({
      agents: [{ id: 'root' }],
      plays: { root: () => 'done' },
      options: { store: crash.store, clock },
    })
    await dead.runtime.ready
    for (const id of ids) dead.runtime.start({ agent: 'root', id, prompt: 'go' }).catch(() => {})
    await crash.crashed
    clock.advance(60_000)
    const workers = [claiming(inner, clock), claiming(inner, clock), claiming(inner, clock)]
    await Promise.all(workers.map(({ stage }) => stage.runtime.ready))
    const taken = workers.flatMap(({ got }) => got)
    assert.equal(taken.length, ids.length, name)
    assert.equal(new Set(taken).size, ids.length, 'no job went to two')
    assert.ok(
      workers.every(({ got }) => got.length >= 2),
      'each got some of them',
    )
    for (const id of ids) {
      await until(async () => (await inner.listJobs('default', id))[0]?.status === 'completed')
      const entries = await storedEntries(inner, id)
      const replies = entries.filter(({ type, kind }) => type === 'end' && kind === 'model')
      assert.equal(replies.length, 1)
    }
    const asked = workers.map(({ stage, got }) => stage.requests.length - got.length)
    assert.deepEqual(asked, [0, 0, 0], 'each worked on what it got, and on nothing else')
    for (const { stage } of workers) await stage.runtime.close()
    await real.close()
  }
})
