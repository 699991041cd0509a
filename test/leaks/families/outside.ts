/** Family G: callers over A2A. Whoever calls gets nothing of another's tasks, nothing that is for people, and no bound value. */
import { generateKeyPairSync, randomUUID, sign } from 'node:crypto'
import { createRuntime, memoryStore, type Runtime } from '@witan/core'
import { call, scriptedModel, toolResults } from '@witan/core/testing'
import { createApp, createAuth, createLog } from '@witan/server'
import { agent, until } from '../../support/stage.ts'
import { canary, scannerOf } from '../support/canary.ts'
import type { Ledger } from '../support/ledger.ts'

const domain = 'bots.example'
const marks = ['hidden', 'prompt', 'instructions', 'message', 'approval', 'provider'] as const
const { privateKey, publicKey } = generateKeyPairSync('ed25519')
const jwk = { ...publicKey.export({ format: 'jwk' }), kid: 'k' }
const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')

/** A good token of an agent of another server. */
function tokenOf(sub: string, local: string, jti: string): string {
  const iat = Math.floor(Date.now() / 1000)
  const iss = `https://${sub.slice(sub.lastIndexOf('@') + 1)}`
  const text = `${encoded({ alg: 'EdDSA', kid: 'k' })}.${encoded({ iss, sub, aud: `@${local}@${domain}`, iat, exp: iat + 300, jti })}`
  return `${text}.${sign(null, Buffer.from(text), privateKey).toString('base64url')}`
}

const secret = { name: 'account', type: 'string', sendToModel: false } as const
const pay = { name: 'Pay', description: 'Pays.', parametersSchema: { type: 'object', properties: {} } }
const access = { call: ['@*@a.test', 'user:anna', 'user:eve', 'role:staff'] }
const rest = { instructions: canary('instructions'), model: 'play/model' }
const agents = [
  agent('actor', { ...rest, address: 'actor', access, parameters: [secret], actions: [pay] }),
  agent('held', { ...rest, address: 'held', access, actions: [pay], approvals: ['Pay'] }),
  agent('asker', { ...rest, address: 'asker', access, users: [{ id: 'bob' }] }),
  agent('broken', { ...rest, address: 'broken', access }),
  agent('closed', { ...rest, address: 'closed' }),
]

const model = scriptedModel(
  (request) => {
    const { content } = request.messages[0] ?? { content: '' }
    if (toolResults(request).length > 0) return 'done'
    const tools = request.tools.map(({ name }) => name)
    if (tools.includes('Pay')) return call('Pay', { note: canary('approval') })
    if (tools.includes('ask_user')) return call('ask_user', { message: canary('message') })
    return content === '' ? 'done' : new Error(canary('provider'))
  },
  { id: 'play/model' },
)

interface Who {
  readonly name: string
  readonly bearer: (local: string, jti: string) => string | null
}

interface World {
  readonly runtime: Runtime
  readonly post: (who: Who, local: string, sent: Sent) => Promise<string>
  readonly owner: Who
  readonly others: readonly Who[]
  close(): Promise<void>
}

/** A method and its parameters. */
type Sent = readonly [method: string, params: Record<string, unknown>]

/** A server with the agents, the caller that owns the tasks, and everybody else. */
async function createWorld(): Promise<World> {
  const runtime = createRuntime({
    ...{ store: memoryStore(), models: { 'play/model': model }, agents, domains: { [domain]: 'default' } },
    ...{ retry: { tries: 1 }, report: () => undefined },
  })
  const stop = new AbortController()
  const app = createApp({
    ...{
      runtime,
      auth: createAuth('none', () => 80),
      hosts: { port: () => 80, allowed: [] },
      log: createLog('silent'),
    },
    ...{ studio: new URL('about:blank'), fetchJson: async () => ({ keys: [jwk] }) },
    stop: { streams: stop.signal, waits: stop.signal },
    federation: {
      ...{ domain, domains: [domain], publicUrl: () => 'http://localhost', maxHops: 4, maxOpenTasks: 10_000 },
      ...{ defaultAgent: null, trust: [], resolve: {} },
    },
  })
  const keyOf = async (id: string, roles: readonly string[]) =>
    (await runtime.keys.create({ id, roles: [...roles] })).key
  const anna = await keyOf('user:anna', ['run'])
  const admin = await keyOf('user:eve', ['admin', 'run', 'answer', 'read', 'staff'])
  return {
    runtime,
    owner: { name: 'anna', bearer: () => anna },
    others: [
      { name: 'an admin', bearer: () => admin },
      { name: 'a remote that is let in', bearer: (local, jti) => tokenOf('@x@a.test', local, jti) },
      { name: 'another one', bearer: (local, jti) => tokenOf('@anna@a.test', local, jti) },
      { name: 'a remote that is not', bearer: (local, jti) => tokenOf('@anna@e.test', local, jti) },
      { name: 'a remote with the name of a role', bearer: (local, jti) => tokenOf('@admin@e.test', local, jti) },
      { name: 'nobody', bearer: () => null },
    ],
    async post(who, local, [method, params]) {
      const messageId = randomUUID()
      const { message } = params
      const whole = typeof message === 'object' ? { message: { messageId, role: 'ROLE_USER', ...message } } : params
      const bearer = who.bearer(local, messageId)
      const headers: Record<string, string> = { 'content-type': 'application/json', 'a2a-version': '1.0' }
      if (bearer !== null) headers['authorization'] = `Bearer ${bearer}`
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: whole })
      return (await app.fetch(new Request(`http://localhost/a2a/${local}`, { method: 'POST', headers, body }))).text()
    },
    async close() {
      stop.abort()
      await runtime.close()
    },
  }
}

/** A conversation that anna began over the API with this agent, as far as it goes. */
async function begun({ runtime }: World, local: string) {
  const witan = runtime.as({ database: runtime.principal.database, id: 'user:anna', roles: ['run'], address: null })
  const parameters = local === 'actor' ? { account: { value: canary('hidden'), sendToModel: false } } : {}
  const prompt = canary('prompt')
  const { id: contextId, run } = await witan.start({ agent: local, id: `chats/${local}`, parameters, prompt })
  await until(async () => (await runtime.getConversation(contextId)).status !== 'running')
  const { items } = await runtime.listInterruptions()
  const open = items.find(({ conversationId }) => conversationId === contextId)
  return { id: run?.runId ?? '', contextId, open }
}

const scan = scannerOf([...marks])

/** What its own caller gets of a task: its own words, what an action asks, and nothing else. */
async function playOwner(world: World, ledger: Ledger, local: string): Promise<{ id: string; sent: readonly Sent[] }> {
  const { id, contextId, open } = await begun(world, local)
  ledger.begin(`${local}: its own caller`)
  const own = await world.post(world.owner, local, ['GetTask', { id }])
  ledger.control('its task', own.includes(id))
  if (local === 'actor') ledger.control('an inbox of this server', JSON.stringify(open).includes(canary('hidden')))
  const allowed = [canary('prompt'), ...(local === 'actor' ? [canary('approval')] : [])]
  ledger.deny('leak', 'task', scan(allowed.reduce((text, one) => text.replaceAll(one, ''), own)))
  const data = { type: 'answer', id: open?.id ?? 'none', answer: { decision: 'approved' } }
  if (local === 'held' || local === 'asker') {
    ledger.begin(`${local}: its caller answers what is for people`)
    const refused = await world.post(world.owner, local, [
      'SendMessage',
      { message: { parts: [{ data }], taskId: id } },
    ])
    ledger.deny('edge', 'answer', refused.includes('ANSWER_INVALID') ? [] : [refused])
  }
  const all = { includeArtifacts: true, historyLength: 99 }
  const messages = [
    { parts: [{ text: 'x' }], contextId },
    { parts: [{ text: 'x' }], taskId: id },
    { parts: [{ data }], taskId: id },
  ]
  const sent: readonly Sent[] = [
    ...['GetTask', 'CancelTask', 'SubscribeToTask'].map((method) => [method, { id }] as const),
    ['ListTasks', all],
    ['ListTasks', { ...all, contextId }],
    ...messages.flatMap((message) =>
      ['SendMessage', 'SendStreamingMessage'].map((method) => [method, { message }] as const),
    ),
  ]
  return { id, sent }
}

/** Plays the family. */
export async function playOutside(ledger: Ledger): Promise<void> {
  const world = await createWorld()
  for (const local of ['actor', 'held', 'asker', 'broken']) {
    const { id, sent } = await playOwner(world, ledger, local)
    for (const who of world.others)
      for (const one of sent)
        for (const at of [local, 'closed']) {
          ledger.begin(`${local} at ${at}: ${who.name}, ${JSON.stringify(one)}`)
          const answer = await world.post(who, at, one)
          ledger.deny('leak', 'answer', scan(answer))
          ledger.deny('leak', 'task id', answer.includes(id) ? [id] : [])
        }
    ledger.begin(`${local}: nothing moved`)
    const { status } = await world.runtime.getRun(id)
    ledger.deny('edge', 'run', status === (local === 'broken' ? 'failed' : 'waiting') ? [] : [status])
  }
  await world.close()
}
