/** Three processes on one PostgreSQL database are restarted one by one under load: what was acknowledged is there, once. */
import assert from 'node:assert/strict'
import { afterEach, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { watchNoise } from '../support/noise.ts'
import { assertEvents } from './support/claims.ts'
import { type Cluster, createCluster, type Member } from './support/cluster.ts'
import { createGate } from './support/model-server.ts'
import { agent, segment, until } from './support/stage.ts'
import { spoken } from './support/transcript.ts'
import type { Started, WitanEvent } from './support/wire.ts'
import type { Answer } from './support/witan.ts'

let cluster: Cluster
afterEach(() => cluster?.close())

const patienceMs = 60_000

interface Load {
  readonly servers: (Member | null)[]
  readonly acknowledged: Map<string, string[]>
  isOver: boolean
}

/** Says something to whatever server answers, until one acknowledges it: the same key each time. */
async function persist<T>(load: Load, path: string, body: unknown): Promise<Answer<T>> {
  const headers = { 'idempotency-key': crypto.randomUUID() }
  const latest = Date.now() + patienceMs
  for (let tries = 0; Date.now() < latest; tries += 1) {
    const servers = load.servers.filter((one) => one !== null)
    const server = servers[tries % Math.max(1, servers.length)]
    const answer = await server?.call<T>('POST', path, { body, headers }).catch(() => undefined)
    if (answer !== undefined && answer.status < 300) return answer
    await delay(25)
  }
  assert.fail(`${path} was never acknowledged`)
}

async function converse(load: Load, id: string): Promise<void> {
  await persist<Started>(load, '/api/v1/conversations', { agent: 'root', id })
  const said: string[] = []
  load.acknowledged.set(id, said)
  for (let turn = 1; turn === 1 || !load.isOver; turn += 1) {
    const prompt = `${id} says ${turn}`
    await persist(load, `/api/v1/conversations/${segment(id)}/runs`, { prompt })
    said.push(prompt)
  }
}

/** Waits until so many more messages were acknowledged. */
async function more({ acknowledged }: Load, messages: number): Promise<void> {
  const count = () => [...acknowledged.values()].reduce((sum, { length }) => sum + length, 0)
  const enough = count() + messages
  await until(
    async () => count(),
    (now) => now >= enough,
  )
}

async function everyEvent(server: Member, id: string): Promise<WitanEvent[]> {
  const events: WitanEvent[] = []
  for (;;) {
    const page = await server.events(id, `verbose=true&limit=200&from=${events.length}`)
    events.push(...page)
    if (page.length < 200) return events
  }
}

test('a rolling restart under load loses nothing, repeats nothing, and counts as no crash [D5] [I1]', async () => {
  // A lease that does not lapse meanwhile: a job that was not handed on would be seen.
  cluster = await createCluster(null)
  const [first, second, worker] = await Promise.all([cluster.serve(), cluster.serve(), cluster.work()])
  await first.save(agent('root', { subAgents: [{ agent: 'leaf', description: 'Ask.' }] }), agent('leaf'))
  cluster.model.on('root', ({ body }) =>
    body.messages.at(-1)?.role === 'tool'
      ? { text: 'root done', delayMs: 40 }
      : { calls: [{ name: 'leaf', args: { message: 'm' } }], delayMs: 40 },
  )
  cluster.model.on('leaf', () => ({ text: 'leaf done', delayMs: 40 }))
  await until(
    () => second.call('GET', '/api/v1/agents/root'),
    ({ status }) => status === 200,
  )
  const load: Load = { servers: [first, second], acknowledged: new Map(), isOver: false }
  const ids = Array.from({ length: 30 }, (_, index) => `chats/${index}`)
  const talks = Promise.all(ids.map((id) => converse(load, id)))
  const took: number[] = []
  const noise = watchNoise()
  for (const [at, member] of [first, second].entries()) {
    await more(load, 20)
    load.servers[at] = null
    const { code, ms } = await member.stop()
    assert.equal(code, 0)
    took.push(ms)
    load.servers[at] = await cluster.serve()
  }
  const { code, ms } = await worker.stop()
  assert.equal(code, 0)
  took.push(ms)
  await cluster.work()
  await more(load, 20)
  load.isOver = true
  await talks
  noise.stop()
  assert.ok(Math.max(...took) < 10_000 + noise.sum(), took.join())
  const server: Member = load.servers[0] ?? assert.fail()
  let turns = 0
  for (const [id, said] of load.acknowledged) {
    const now = await until(
      () => server.conversation(id),
      ({ status }) => status === 'idle',
    )
    const events = await everyEvent(server, id)
    const heard = events.filter(
      ({ type, content }) => type === 'message' && String(content.text).startsWith(`${id} says`),
    )
    assert.deepEqual(
      heard.map(({ content }) => content.text),
      said,
      'each message once, in order',
    )
    assert.ok(now.runs.every(({ status }) => status === 'completed'))
    assert.deepEqual(
      events.filter(({ content }) => content.code === 'RUN_RECOVERED'),
      [],
      'no attempt is a crash',
    )
    assertEvents(events)
    turns += said.length
  }
  assert.ok(turns > ids.length, 'there was load')
})

test('what a process lacks is told: in a notice where it is offered, in an error where it was begun elsewhere', async () => {
  cluster = await createCluster()
  const tool = (run: string) => `tools: [{ name: 'weigh', description: 'Weighs.', effect: 'none', timeoutMs: 20000,
    jsonSchema: { type: 'object', properties: {} }, check: (args) => ({ ok: true, arguments: args }), execute: ${run} }],
  connections: { play: { kind: 'openai-compatible', baseUrl: ${JSON.stringify(cluster.model.url)} },
    own: { kind: 'openai-compatible', baseUrl: ${JSON.stringify(cluster.model.url)} } },`
  const equipped = await cluster.serve(tool('() => new Promise(() => {})'))
  await equipped.save(agent('weigher', { tools: ['weigh'] }), agent('modelled', { model: 'own/modelled' }))
  cluster.model.on('weigher', ({ body }) =>
    body.messages.at(-1)?.role === 'tool' ? { text: 'done' } : { calls: [{ name: 'weigh', args: {} }] },
  )
  const gate = createGate()
  cluster.model.on('modelled', () => ({ text: 'never', hold: gate }))
  for (const name of ['weigher', 'modelled']) {
    await equipped.begin(name, { id: `lack/${name}` })
    await equipped.runAnswer(`lack/${name}`, { prompt: 'go', wait: false })
  }
  await gate.entered
  await until(
    () => equipped.events('lack/weigher'),
    (events) => events.some(({ type, kind }) => type === 'start' && kind === 'tool'),
  )
  await equipped.kill()
  gate.open()
  const plain = await cluster.serve()
  await until(
    () => Promise.all(['lack/weigher', 'lack/modelled'].map((id) => plain.conversation(id))),
    (all) => all.every(({ status }) => status === 'idle'),
  )
  const codes = async (id: string) => (await plain.events(id)).flatMap(({ content }) => content.code ?? [])
  assert.ok((await codes('lack/weigher')).includes('TOOL_UNKNOWN'))
  assert.ok(spoken(cluster.model.of('weigher').at(-1)).length > 0)
  assert.deepEqual(
    (await plain.conversation('lack/modelled')).runs.map(({ status }) => status),
    ['failed'],
  )
  assert.ok((await codes('lack/modelled')).includes('MODEL_UNKNOWN'))
  await plain.ask('weigher', 'again', { id: 'lack/again' })
  assert.ok((await codes('lack/again')).includes('TOOL_UNAVAILABLE'), 'a notice, where nothing would be said else')
  const late = await cluster.work()
  await until(
    async () => late.output(),
    (said) => /"type":"warning".*weigh/.test(said),
  )
})
