/** An accept that comes so late that its idempotency key is another request's by then: it stores nothing, and the message stands once. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createRuntime, memoryStore, postgresStore, type Runtime, type Store } from '@witan/core'
import { scriptedModel } from '@witan/core/testing'
import { createApp, createAuth, createLog } from '@witan/server'
import { openProxy, type Proxy as Network } from '../postgres/support/proxy.ts'
import { freshSchema } from '../postgres/support/stores.ts'
import { agent, createGate, settle } from '../support/stage.ts'

const prompt = 'Who is my manager?'
/** After so long a request that has stored nothing counts as lost. */
const lapsedMs = 15_001

interface Reply {
  readonly status: number
  readonly replayed: boolean
  readonly body: {
    readonly code?: string
    readonly id?: string
    readonly details?: unknown
    readonly run?: { readonly text: string }
  }
}

interface Told {
  /** Sends the same request, under the same key. */
  post(): Promise<Reply>
  /** The texts that people said, of all conversations. */
  said(): Promise<readonly string[]>
}

interface Stage {
  /** How often the model was asked, over all servers. */
  readonly asked: { count: number }
  /** A server on this store. */
  serve(store: Store): Promise<Told>
  /** A network to the server of this address that holds the commit of the message, once; `held` resolves when that has happened. */
  open(url: string): Promise<{ readonly network: Network; readonly held: Promise<void> }>
}

/** Ends in the one order in which nobody waits for a network that is silent. */
function createStage(context: TestContext): Stage {
  const asked = { count: 0 }
  const runtimes: Runtime[] = []
  const networks: Network[] = []
  context.after(async () => {
    for (const network of networks) network.silence(false)
    for (const runtime of runtimes) await runtime.close()
    for (const network of networks) await network.close()
  })
  return {
    asked,
    async serve(store) {
      const runtime = createRuntime({ ...agentsOf(asked), store, leaseMs: 1_000, report: () => {} })
      runtimes.push(runtime)
      await runtime.ready
      return told(runtime)
    },
    async open(url) {
      const network = await openProxy(url)
      networks.push(network)
      const held = Promise.withResolvers<void>()
      network.fate = (_, sent) => {
        if (!sent.includes(prompt)) return 'pass'
        network.fate = () => 'pass'
        held.resolve()
        return 'hold'
      }
      return { network, held: held.promise }
    },
  }
}

function agentsOf(asked: { count: number }) {
  const answer = () => {
    asked.count += 1
    return 'Andrew Fuller.'
  }
  const models = { 'test/desk': scriptedModel(answer, { id: 'test/desk' }) }
  return { models, agents: [{ ...agent('desk'), model: 'test/desk' }] }
}

function told(runtime: Runtime): Told {
  const never = new AbortController().signal
  const app = createApp({
    runtime,
    auth: createAuth('none', () => 4747),
    hosts: { port: () => 4747, allowed: [] },
    log: createLog('error'),
    stop: { streams: never, waits: never },
    studio: new URL('file:///nowhere/'),
  })
  return {
    async post() {
      const headers = { 'content-type': 'application/json', 'idempotency-key': 'k1', host: '127.0.0.1:4747' }
      const body = JSON.stringify({ agent: 'desk', prompt })
      const reply = await app.request('/api/v1/conversations', { method: 'POST', headers, body })
      const replayed = reply.headers.get('idempotency-replayed') === 'true'
      return { status: reply.status, replayed, body: (await reply.json()) as Reply['body'] }
    },
    async said() {
      const { items } = await runtime.listConversations({ limit: 50 })
      const documents = await Promise.all(items.map(({ id }) => runtime.getDocument(id, { limit: 50 })))
      return documents.flatMap(({ messages }) => messages.filter(({ role }) => role === 'user').map(({ text }) => text))
    },
  }
}

/** The same store for a process that looks at it so much later. */
function lapsed(store: Store): Store {
  return { ...store, now: (database) => store.now(database) + lapsedMs }
}

/** Sends it until it is neither under way nor refused for a while. */
async function insist({ post }: Told): Promise<Reply> {
  for (;;) {
    const reply = await post()
    if (reply.status !== 409 && reply.status !== 503) return reply
    await settle()
  }
}

test('[P20] [I1] a frozen request that wakes when its key is taken stores nothing and is told so', async (context) => {
  const { asked, serve } = createStage(context)
  const inner = memoryStore()
  const [reached, woken] = [createGate(), createGate()]
  const append: Store['append'] = async (one) => {
    if (one.note !== undefined) {
      reached.open()
      await woken.opened
    }
    return inner.append(one)
  }
  const frozen = await serve({ ...inner, append })
  const other = await serve(lapsed(memoryStore({ beside: inner })))
  const late = frozen.post()
  await reached.opened
  const done = await insist(other)
  assert.deepEqual([done.status, done.body.run?.text], [201, 'Andrew Fuller.'])
  woken.open()
  const refused = await late
  assert.deepEqual([refused.status, refused.body.code], [409, 'IN_PROGRESS'])
  const again = await frozen.post()
  assert.deepEqual([again.status, again.replayed, again.body.id], [201, true, done.body.id])
  assert.deepEqual([await other.said(), asked.count], [[prompt], 1])
})

test('[P20] [I1] the network is silent at the commit and comes back when another server has done it', async (context) => {
  const { asked, serve, open } = createStage(context)
  const place = await freshSchema(context)
  const { network, held } = await open(place.url)
  const timeouts = { connectMs: 300, replyMs: 300, lockMs: 300, silentMs: 300 }
  // It does not give up: what it sent is lost, and as soon as it can it does it again.
  const first = await serve(postgresStore({ ...place, url: network.url, timeouts, unavailableAfterMs: 120_000 }))
  const other = await serve(lapsed(postgresStore(place)))
  const late = first.post()
  await held
  const done = await insist(other)
  assert.deepEqual([done.status, done.body.run?.text], [201, 'Andrew Fuller.'])
  network.silence(false)
  const refused = await late
  assert.deepEqual([refused.status, refused.body.code], [409, 'IN_PROGRESS'])
  const again = await first.post()
  assert.deepEqual([again.status, again.replayed, again.body.id], [201, true, done.body.id])
  assert.deepEqual([await other.said(), asked.count], [[prompt], 1])
})

test('[P20] [I1] a key is not taken while the commit of its message may still arrive, and then its run is followed', async (context) => {
  const { asked, serve, open } = createStage(context)
  const place = await freshSchema(context)
  const { network, held } = await open(place.url)
  // PostgreSQL keeps the transaction, although its sender has given up.
  const timeouts = { connectMs: 300, replyMs: 300, lockMs: 300, silentMs: 120_000 }
  const first = await serve(postgresStore({ ...place, url: network.url, timeouts, unavailableAfterMs: 300 }))
  const other = await serve(lapsed(postgresStore({ ...place, timeouts, unavailableAfterMs: 300 })))
  const late = first.post()
  await held
  const lost = await late
  assert.deepEqual([lost.status, lost.body.code], [503, 'STORE_UNAVAILABLE'])
  const early = await other.post()
  assert.deepEqual([early.status, early.body.code], [503, 'STORE_UNAVAILABLE'])
  assert.deepEqual(await other.said(), [])
  network.silence(false)
  const done = await insist(other)
  assert.deepEqual([done.status, done.body.run?.text], [201, 'Andrew Fuller.'])
  assert.deepEqual([await other.said(), asked.count], [[prompt], 1])
})
