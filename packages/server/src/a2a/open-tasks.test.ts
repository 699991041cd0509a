/** The bound on the open tasks of one caller, where two servers on one PostgreSQL take its messages at once. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { createRuntime, postgresStore, type Runtime, type Store } from '@witan/core'
import { scriptedModel } from '@witan/core/testing'
import { emptySchema } from '../../../../test/postgres/support/stores.ts'
import { createApp } from '../app.ts'
import { createKeyAuth } from '../auth-keys.ts'
import { noFederation } from '../federation-config.ts'
import { createLog } from '../log.ts'

const domain = 'bots.example'
const most = 2
const rounds = [1, 2, 3, 4, 5, 6]

type Append = Parameters<Store['append']>[0]

/** Holds the appends that begin a run, while it is shut. */
interface Gate {
  readonly pass: () => Promise<void>
  readonly shut: () => void
  /** Resolves once one is held. */
  readonly held: () => Promise<void>
  readonly open: () => void
}

function createGate(): Gate {
  let isShut = false
  let [holding, opened] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  return {
    async pass() {
      if (!isShut) return
      holding.resolve()
      await opened.promise
    },
    shut() {
      isShut = true
      ;[holding, opened] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    },
    held: () => holding.promise,
    open() {
      isShut = false
      opened.resolve()
    },
  }
}

/** The names of the methods called are added to `asked`. */
function gated(inner: Store, gate: Gate, asked: string[]): Store {
  const beginsRun = ({ jobs = [] }: Append) => jobs.some((one) => one.kind === 'create' && one.job === 'run')
  const append = async (one: Append) => {
    if (beginsRun(one)) await gate.pass()
    return inner.append(one)
  }
  return new Proxy(inner, {
    get(target, name) {
      asked.push(String(name))
      return name === 'append' ? append : Reflect.get(target, name)
    },
  })
}

/** One server, as far as its callers see it. */
interface Server {
  readonly runtime: Runtime
  readonly gate: Gate
  /** The methods of the store that it has called. */
  readonly asked: readonly string[]
  rpc(key: string, method: string, params: object): Promise<{ readonly status: number; readonly task: Task }>
}

interface Task {
  readonly id: string
  readonly contextId: string
}

async function serve(place: { url: string; schema: string }): Promise<Server> {
  const gate = createGate()
  const model = scriptedModel(() => ({ hang: true }), { id: 'play/model' })
  const asked: string[] = []
  const store = gated(postgresStore(place), gate, asked)
  const runtime = createRuntime({ store, domains: { [domain]: 'default' }, models: { 'play/model': model } })
  const log = createLog('silent')
  const never = new AbortController().signal
  const app = createApp({
    runtime,
    auth: createKeyAuth({ lookup: runtime.keyLookup, port: () => 80, log }),
    hosts: { port: () => 80, allowed: [domain] },
    log,
    stop: { streams: never, waits: never },
    federation: {
      ...noFederation,
      domain,
      domains: [domain],
      publicUrl: () => `https://${domain}`,
      maxOpenTasks: most,
    },
    studio: new URL('about:blank'),
  })
  await runtime.agents.list()
  return {
    ...{ runtime, gate, asked },
    async rpc(key, method, params) {
      const headers = { 'content-type': 'application/json', 'a2a-version': '1.0', authorization: `Bearer ${key}` }
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
      const answer = await app.fetch(new Request(`https://${domain}/a2a/docs`, { method: 'POST', headers, body }))
      const { result } = (await answer.json()) as { result?: { task?: Task } }
      return { status: answer.status, task: result?.task ?? (result as Task) }
    },
  }
}

/** Two servers on one database, and what a test does with them. */
async function stageOf(context: TestContext) {
  const place = await emptySchema(context)
  const one = await serve(place)
  await one.runtime.agents.save({ id: 'docs', model: 'play/model', instructions: 'x', address: 'docs' })
  const two = await serve(place)
  context.after(() => Promise.all([one.runtime.close(), two.runtime.close()]))
  const send = (server: Server, key: string, more: object = {}) => {
    const message = { messageId: randomUUID(), role: 'ROLE_USER', parts: [{ text: 'hi' }], ...more }
    return server.rpc(key, 'SendMessage', { message, configuration: { returnImmediately: true } })
  }
  return {
    ...{ one, two, send },
    newKey: async () => (await one.runtime.keys.create({ id: `user:${randomUUID()}`, roles: ['run'] })).key,
    async open(key: string) {
      const { status, task } = await send(one, key)
      assert.equal(status, 200)
      return task
    },
    async end(key: string, { id }: Task) {
      assert.equal((await one.rpc(key, 'CancelTask', { id })).status, 200)
    },
    /** What a message to each server gets, where both are about to be stored before one of them is. */
    async race(...sends: readonly [() => ReturnType<typeof send>, () => ReturnType<typeof send>]) {
      const gates = [one.gate, two.gate]
      for (const gate of gates) gate.shut()
      const sent = sends.map((make) => make())
      await Promise.all(gates.map((gate, at) => Promise.race([gate.held(), sent[at]])))
      for (const gate of gates) gate.open()
      return (await Promise.all(sent)).map(({ status }) => status).sort()
    },
  }
}

test('of two messages to two servers for the last open task of their caller one is taken', async (context) => {
  const { one, two, send, newKey, open, race } = await stageOf(context)
  for (const _ of rounds) {
    const key = await newKey()
    await open(key)
    assert.deepEqual(
      await race(
        () => send(one, key),
        () => send(two, key),
      ),
      [200, 429],
    )
  }
})

test('so it is of a message for a context that rests, and one that begins another', async (context) => {
  const { one, two, send, newKey, open, end, race } = await stageOf(context)
  for (const _ of rounds) {
    const key = await newKey()
    const task = await open(key)
    await open(key)
    await end(key, task)
    const { contextId } = task
    assert.deepEqual(
      await race(
        () => send(one, key, { contextId }),
        () => send(two, key),
      ),
      [200, 429],
    )
  }
})

test('a message for a task that ends meanwhile begins none if another has taken its place', async (context) => {
  const { two, send, newKey, open, end } = await stageOf(context)
  const key = await newKey()
  const task = await open(key)
  await open(key)
  two.gate.shut()
  const late = send(two, key, { contextId: task.contextId })
  await two.gate.held()
  await end(key, task)
  await open(key)
  two.gate.open()
  assert.equal((await late).status, 429)
})

test('the files of a message that is refused are not stored', async (context) => {
  const { one, send, newKey, open } = await stageOf(context)
  const key = await newKey()
  const parts = [{ text: 'hi' }, { raw: 'aGk=', mediaType: 'text/plain', filename: 'a.txt' }]
  const puts = () => one.asked.filter((name) => name === 'putContent').length
  await open(key)
  assert.equal((await send(one, key, { parts })).status, 200)
  const before = puts()
  assert.ok(before > 0)
  assert.equal((await send(one, key, { parts })).status, 429)
  assert.equal(puts(), before)
})
