/** What a task demands of its caller, and every state that does not resolve it. */
import assert from 'node:assert/strict'
import { generateKeyPairSync, randomUUID, sign } from 'node:crypto'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { createRuntime, defineTool, memoryStore, type Runtime, type Store } from '@witan/core'
import { call, scriptedModel, toolResults } from '@witan/core/testing'
import { openState, type PolicyState, sealState } from '@witan/core/tooling'
import { z } from 'zod'
import { createApp } from '../app.ts'
import type { App } from '../app-options.ts'
import { createKeyAuth } from '../auth-keys.ts'
import { noFederation } from '../federation-config.ts'
import { createLog } from '../log.ts'

const domain = 'bots.example'
const { privateKey, publicKey } = generateKeyPairSync('ed25519')
const jwk = { ...publicKey.export({ format: 'jwk' }), kid: 'k', alg: 'EdDSA', use: 'sig' }
const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')

const price = {
  ...{ kind: 'payment_required', message: 'cny-fee', url: 'https://bots.example/pay', action_label: 'Pay' },
  data: { 'example.bots.price': 1 },
}
const buy = defineTool({
  name: 'buy',
  description: 'Buys.',
  parameters: z.object({}),
  execute: async (_, { demand }) => `bought with ${JSON.stringify(await demand(price))}`,
})
const demand = (message: string, more: object = {}) => ({ kind: 'consent_required', message, ...more })
const agents = {
  shop: { tools: ['buy'] },
  both: { demands: [demand('cny-one'), demand('cny-two')] },
  door: { demands: [demand('cny-in', { kind: 'unauthorized' })] },
  gate: { demands: [demand('cny-in', { kind: 'unauthorized' }), demand('cny-pay')] },
  once: { demands: [demand('cny-once', { per: 'conversation' })] },
  picky: { demands: [demand('cny-picky', { of: ['@*@b.test', ['@*@a.test', 'from:mailto:u@a.test']] })] },
}

interface Part {
  readonly text?: string
  readonly data?: { readonly type?: string; readonly policy?: Record<string, unknown>; readonly state?: string }
}
interface Message {
  readonly messageId: string
  readonly parts: readonly Part[]
  readonly extensions?: readonly string[]
}
interface Task {
  readonly id: string
  readonly contextId: string
  readonly status: { readonly state: string; readonly message?: Message }
  readonly artifacts?: readonly { readonly parts: readonly Part[] }[]
  readonly history?: readonly Message[]
}
interface Reply {
  readonly result?: { readonly task?: Task; readonly message?: Message } & Task
  readonly error?: { readonly code: number }
}

let runtime: Runtime
let app: App
let later = 0
/** Happens once, right after an interruption was read for the second time. */
let meanwhile: (() => Promise<void>) | null = null
let reads = 0
const logged: string[] = []

/** An agent of another server, by its address; or with no address nobody. */
async function rpc([who, agent]: readonly [string | null, string], method: string, params: object): Promise<Reply> {
  const at = Math.floor((Date.now() + later) / 1000)
  const { messageId } = (params as { message?: { messageId?: string } }).message ?? {}
  const claims = {
    ...{ iss: `https://${who?.split('@').at(-1)}`, sub: who, aud: `@${agent}@${domain}`, iat: at, exp: at + 60 },
    jti: messageId ?? randomUUID(),
  }
  const text = `${encoded({ alg: 'EdDSA', kid: 'k' })}.${encoded(claims)}`
  const token = `${text}.${sign(null, Buffer.from(text), privateKey).toString('base64url')}`
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  const headers = {
    ...{ 'content-type': 'application/json', 'a2a-version': '1.0' },
    ...(who === null ? {} : { authorization: `Bearer ${token}` }),
  }
  const reply = await app.fetch(new Request(`https://${domain}/a2a/${agent}`, { method: 'POST', headers, body }))
  const said = await reply.text()
  const json = reply.headers.get('content-type')?.startsWith('text/event-stream') ? lastFrame(said) : said
  return JSON.parse(json) as Reply
}

const lastFrame = (stream: string) =>
  stream
    .split('\n')
    .findLast((line) => line.startsWith('data: '))
    ?.slice(6) ?? '{}'

function readThen(inner: Store): Store['getInterruption'] {
  return async (database, id) => {
    const row = await inner.getInterruption(database, id)
    const then = ++reads === 2 ? meanwhile : null
    if (then !== null) meanwhile = null
    await then?.()
    return row
  }
}

const anna = '@anna@a.test'
const say = (parts: object[], more: object = {}) => ({
  message: { messageId: randomUUID(), role: 'ROLE_USER', parts, ...more },
})

async function asked(agent: string, who: string | null = anna): Promise<Task> {
  const { result } = await rpc([who, agent], 'SendMessage', say([{ text: 'go' }]))
  return result?.task as Task
}

const statesIn = (task: Task | undefined) => task?.status.message?.parts.map(({ data }) => data?.state ?? '') ?? []
const resolution = (state: unknown, more: object = {}, values: object = { receipt: 'r-1' }) =>
  say([{ data: { type: 'policy_resolution' } }], {
    metadata: { mentionable: { policy_resolution: { in_reply_to_state: state, ...values } } },
    ...more,
  })

const forbidden = [
  { data: { type: 'policy', policy: { kind: 'forbidden', message: 'This state is not valid here.' } } },
]

function assertRefused(reply: Reply, why: string): void {
  assert.deepEqual(reply.result?.message?.parts, forbidden, `${why}: ${JSON.stringify(reply)}`)
  assert.equal(reply.result?.task, undefined, why)
}

describe('what a task demands of its caller', () => {
  beforeEach(async () => {
    later = 0
    logged.length = 0
    const now = () => Date.now() + later
    const model = scriptedModel(
      (request) => toolResults(request)[0] ?? (request.tools.length > 0 ? call('buy') : 'done'),
      { id: 'play/model' },
    )
    const inner = memoryStore({ now })
    const store = new Proxy(inner, {
      get: (target, name) =>
        name === 'getInterruption' && meanwhile !== null ? readThen(inner) : (Reflect.get(target, name) as unknown),
    })
    runtime = createRuntime({
      store,
      ...{ domains: { [domain]: 'default' }, models: { 'play/model': model }, tools: [buy] },
    })
    for (const [id, more] of Object.entries(agents)) {
      const access = { call: ['@*', 'anonymous', 'role:run'] }
      await runtime.agents.save({ id, model: 'play/model', instructions: 'x', address: id, access, ...more })
    }
    const never = new AbortController().signal
    const log = createLog('debug', (line) => logged.push(line))
    app = createApp({
      ...{ runtime, log, stop: { streams: never, waits: never }, studio: new URL('about:blank') },
      auth: createKeyAuth({ lookup: runtime.keyLookup, port: () => 80, log }),
      hosts: { port: () => 80, allowed: [domain] },
      federation: { ...noFederation, domain, domains: [domain], publicUrl: () => `https://${domain}` },
      fetchJson: async () => ({ keys: [jwk] }),
    })
  })
  afterEach(async () => {
    assert.equal(logged.join('').includes('cny-'), false, 'no log line has the words of a condition')
    await runtime.close()
  })

  test('[Mb12] [Mb13] a condition is a policy part with a state, and resolved once; nothing else holds its words', async () => {
    const task = await asked('shop')
    const { state, message } = task.status
    assert.equal(state, 'TASK_STATE_INPUT_REQUIRED')
    assert.deepEqual(message?.extensions, ['https://mentionable.dev/ns/policy/v0.1'])
    const [part, ...more] = message?.parts ?? []
    assert.deepEqual([part?.data?.type, part?.data?.policy, more.length], ['policy', price, 0])
    assert.match(part?.data?.state ?? '', /^[\w-]{100,}$/)
    const sent = resolution(part?.data?.state, { taskId: task.id })
    const { result } = await rpc([anna, 'shop'], 'SendMessage', sent)
    assert.equal(result?.task?.status.state, 'TASK_STATE_COMPLETED')
    assert.equal(result?.task?.artifacts?.[0]?.parts[0]?.text, 'bought with {"receipt":"r-1"}')
    const same = await rpc([anna, 'shop'], 'SendMessage', sent)
    assert.equal(same.result?.task?.id, task.id, 'a message that is sent again is the same one')
    const again = await rpc([anna, 'shop'], 'SendMessage', resolution(part?.data?.state, { taskId: task.id }))
    assertRefused(again, 'a state is used once')
    const history = result?.task?.history?.map(({ parts }) => parts[0]?.data ?? parts[0]?.text)
    assert.deepEqual(history, ['go', { type: 'policy', policy: price }, { type: 'policy_resolution' }])
    const { state: kept } = part?.data ?? {}
    for (const text of [JSON.stringify(await exported(task.contextId)), logged.join('')])
      assert.equal(text.includes(String(kept)), false)
  })

  test('the state of a task says what is open: signing in alone is AUTH_REQUIRED', async () => {
    for (const [agent, state, count] of [
      ['door', 'AUTH_REQUIRED', 1],
      ['gate', 'INPUT_REQUIRED', 2],
      ['both', 'INPUT_REQUIRED', 2],
    ] as const) {
      const task = await asked(agent)
      assert.deepEqual([task.status.state, statesIn(task).length], [`TASK_STATE_${state}`, count], agent)
      const listed = await rpc([anna, agent], 'ListTasks', { status: `TASK_STATE_${state}` })
      assert.equal((listed.result as unknown as { tasks: Task[] }).tasks[0]?.id, task.id)
      assert.equal((await rpc([anna, agent], 'GetTask', { id: task.id })).result?.status.state, `TASK_STATE_${state}`)
    }
  })

  test('[E63] of several each is resolved by a message of its own, on the task or as the message once more, also in a stream', async () => {
    const task = await asked('both')
    const [one, two] = statesIn(task)
    const half = await rpc([anna, 'both'], 'SendStreamingMessage', resolution(one, { taskId: task.id }))
    const frame = half.result as unknown as { statusUpdate?: Task; task?: Task }
    const { status } = (frame.statusUpdate ?? frame.task) as Task
    assert.equal(status.state, 'TASK_STATE_INPUT_REQUIRED')
    assert.equal(status.message?.parts.length, 1)
    assert.notEqual(status.message?.messageId, task.status.message?.messageId, 'another thing is asked')
    const metadata = { mentionable: { policy_resolution: { in_reply_to_state: two } } }
    const whole = await rpc(
      [anna, 'both'],
      'SendMessage',
      say([{ text: 'go' }], { metadata, contextId: task.contextId }),
    )
    assert.deepEqual([whole.result?.task?.id, whole.result?.task?.status.state], [task.id, 'TASK_STATE_COMPLETED'])
  })

  test('[E65] [M30] no other state changes anything, and the owner of the task is asked before', async () => {
    const task = await asked('shop')
    const other = await asked('shop')
    const elsewhere = await asked('both')
    const bobs = await asked('shop', '@bob@a.test')
    const [state = ''] = statesIn(task)
    const keys = await runtime.signingKeys.list()
    const own = openState(state, keys) as PolicyState
    const forged = (change: Partial<PolicyState>) => sealState({ ...own, ...change }, keys)
    const on = { taskId: task.id }
    const flipped = (at: number) => {
      const bytes = Buffer.from(state, 'base64url')
      bytes[at] = (bytes[at] ?? 0) ^ 1
      return bytes.toString('base64url')
    }
    const wrong: readonly (readonly [why: string, state: unknown, more?: object])[] = [
      ['none', undefined, on],
      ['null', null, on],
      ['a number', 1, on],
      ['empty', '', on],
      ['long', 'x'.repeat(100_000), on],
      ['no base64', `${state}!`, on],
      ['cut', state.slice(0, -1), on],
      ...[0, 12, 30, 60].map((at) => [`byte ${at} changed`, flipped(at), on] as const),
      ['of another issuer', forged({ issuer: `@both@${domain}` }), on],
      ['of another task', forged({ task: other.id }), on],
      ['of another caller', forged({ caller: '@bob@a.test' }), on],
      ['of another interruption', forged({ interruption: 'i_none' }), on],
      ['expired', forged({ until: Date.now() }), on],
      ['of another task of the caller', statesIn(other)[0], on],
      ['of another agent', statesIn(elsewhere)[0], on],
      ['of another caller of the agent', statesIn(bobs)[0], on],
      ['of another caller, without a task', statesIn(bobs)[0]],
      ['of another agent, without a task', statesIn(elsewhere)[0]],
      ['in another context', state, { contextId: other.contextId }],
    ]
    for (const [why, given, more] of wrong)
      assertRefused(await rpc([anna, 'shop'], 'SendMessage', resolution(given, more)), why)
    assertRefused(await rpc([anna, 'shop'], 'SendStreamingMessage', resolution('x', on)), 'in a stream')
    const foreign = await rpc(['@bob@a.test', 'shop'], 'SendMessage', resolution(state, on))
    assert.equal(foreign.error?.code, -32001, 'the owner is asked before the state')
    assertRefused(await rpc(['@bob@a.test', 'shop'], 'SendMessage', resolution(state)), 'another caller')
    const answer = { data: { type: 'answer', id: own.interruption, answer: { resolution: {} } } }
    assert.equal((await rpc([anna, 'shop'], 'SendMessage', say([answer], on))).error?.code, -32602, 'without a state')
    const beside = { ...on, metadata: { mentionable: { policy_resolution: { in_reply_to_state: state } } } }
    assert.equal((await rpc([anna, 'shop'], 'SendMessage', say([{ text: 'more' }], beside))).error?.code, -32602)
    assert.equal(
      (await rpc([anna, 'shop'], 'GetTask', { id: task.id })).result?.status.state,
      'TASK_STATE_INPUT_REQUIRED',
    )
    const right = await rpc([anna, 'shop'], 'SendMessage', resolution(state, on))
    assert.equal(right.result?.task?.status.state, 'TASK_STATE_COMPLETED')
    await rpc([anna, 'shop'], 'CancelTask', { id: other.id })
    assertRefused(
      await rpc([anna, 'shop'], 'SendMessage', resolution(statesIn(other)[0], { taskId: other.id })),
      'of a task that has ended: its state is asked after',
    )
  })

  test('[E65] a state counts for a day, though what it resolves waits longer; the task then has a fresh one', async () => {
    await runtime.agents.save({
      ...{ id: 'slow', model: 'play/model', instructions: 'x', address: 'slow', access: { call: ['@*'] } },
      ...{ demands: [demand('cny-slow')], interruptionExpiresInSeconds: 604_800 },
    })
    const task = await asked('slow')
    later = 86_401_000
    const on = { taskId: task.id }
    assertRefused(await rpc([anna, 'slow'], 'SendMessage', resolution(statesIn(task)[0], on)), 'after a day')
    const [fresh] = statesIn((await rpc([anna, 'slow'], 'GetTask', { id: task.id })).result)
    const { result } = await rpc([anna, 'slow'], 'SendMessage', resolution(fresh, on))
    assert.equal(result?.task?.status.state, 'TASK_STATE_COMPLETED')
  })

  test('[E65] a state is of no use once somebody here was faster, however close', async () => {
    const task = await asked('shop')
    const [state] = statesIn(task)
    const { items } = await runtime.listInterruptions({ state: 'open' })
    const id = items[0]?.id ?? ''
    // It is read for the task, and again for the state: it is open then, and settled before it is answered.
    reads = 0
    meanwhile = async () => void (await runtime.answerInterruption(id, { answer: { resolution: { receipt: 'here' } } }))
    assertRefused(await rpc([anna, 'shop'], 'SendMessage', resolution(state, { taskId: task.id })), 'too late')
    assert.equal(meanwhile, null)
    const { result } = await rpc([anna, 'shop'], 'GetTask', { id: task.id })
    assert.match(JSON.stringify(result?.artifacts), /here/)
  })

  test('consent for a conversation holds for the context', async () => {
    const task = await asked('once')
    await rpc([anna, 'once'], 'SendMessage', resolution(statesIn(task)[0], { taskId: task.id }))
    const { contextId } = task
    const more = await rpc([anna, 'once'], 'SendMessage', say([{ text: 'more' }], { contextId }))
    assert.equal(more.result?.task?.status.state, 'TASK_STATE_COMPLETED')
    assert.equal((await asked('once')).status.state, 'TASK_STATE_INPUT_REQUIRED')
  })

  test('[C21] only callers to which `of` applies are asked; the people here are in every case', async () => {
    const here = async (who: string) => {
      const params = { ...say([{ text: 'go' }]), configuration: { returnImmediately: true } }
      const { result } = await rpc([who, 'picky'], 'SendMessage', params)
      const id = result?.task?.id ?? ''
      for (;;) {
        const { items } = await runtime.listInterruptions({ state: 'open' })
        const open = items.find(({ conversationId, caller }) => conversationId !== undefined && caller?.address === who)
        if (open !== undefined) return { id, open, task: (await rpc([who, 'picky'], 'GetTask', { id })).result as Task }
        await new Promise((resolve) => setImmediate(resolve))
      }
    }
    const b = await here('@b@b.test')
    assert.deepEqual([b.task.status.state, statesIn(b.task).length], ['TASK_STATE_INPUT_REQUIRED', 1])
    const a = await here('@a@a.test')
    assert.deepEqual([a.task.status.state, statesIn(a.task)], ['TASK_STATE_WORKING', []])
    const keys = await runtime.signingKeys.list()
    const [mine = ''] = statesIn(b.task)
    const stolen = {
      ...(openState(mine, keys) as PolicyState),
      task: a.id,
      caller: '@a@a.test',
      interruption: a.open.id,
    }
    assertRefused(
      await rpc(['@a@a.test', 'picky'], 'SendMessage', resolution(sealState(stolen, keys), { taskId: a.id })),
      'not asked',
    )
    await runtime.answerInterruption(a.open.id, { answer: { resolution: {} } })
    const { result } = await rpc(['@a@a.test', 'picky'], 'GetTask', { id: a.id })
    assert.ok(['TASK_STATE_WORKING', 'TASK_STATE_COMPLETED'].includes(result?.status.state ?? ''))
  })

  test('a caller without a credential is told what is demanded, and gets no state', async () => {
    const task = await asked('shop', null)
    assert.equal(task.status.state, 'TASK_STATE_INPUT_REQUIRED')
    assert.deepEqual(task.status.message?.parts[0]?.data, { type: 'policy', policy: price })
  })
})

async function exported(conversation: string): Promise<unknown[]> {
  const lines: unknown[] = []
  for await (const line of runtime.exportConversation(conversation)) lines.push(line)
  return lines
}
