/** For whom agents call, over three real servers and a stranger: who is let in, what goes on to the next server, and what waits once it has expired. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { call, type Rule, scriptedModel } from '@witan/core/testing'
import type { AgentInput, RunResult } from '@witan/protocol'
import type { EvidenceIssuer } from '@witan/core/tooling'
import { loadConfig, startServer, type WitanServer } from '@witan/server'
import { createForwarder } from '../support/forwarder.ts'
import { type A2aClient, type A2aMessage, a2aClient, answerOf, message } from './support/a2a.ts'
import { assertProblem } from './support/claims.ts'
import { createRemoteServer, type RemoteServer } from './support/remote-server.ts'
import { type CallOptions, request } from './support/witan.ts'

const names = ['a', 'b', 'c'] as const
type Name = (typeof names)[number]
const doors = await Promise.all(names.map(() => createForwarder()))
const servers = new Map<Name, WitanServer>()
let stranger: RemoteServer
let ids: RemoteServer

/** Calls the tool whose name was said, or the only one. */
const rule: Rule = (request, turn) => {
  const said = JSON.stringify(request.messages.at(-1)?.content)
  if (turn > 0) return `[${String(request.messages.at(-1)?.content)}]`
  const tool = request.tools.find(({ name }) => said.includes(name)) ?? request.tools[0]
  return tool === undefined ? 'reached' : call(tool.name, { message: said })
}

const mail = 'mailto:u@x.test'
/** Whom an issuer knows that makes evidence anew for the servers of `b`. */
const vouched = 'mailto:w@people.test'
const edge = (name: string, address: string) => ({ name, address, description: 'Next.' })
const agents: Readonly<Record<Name, readonly object[]>> = {
  a: [
    {
      ...{ id: 'front', address: 'front' },
      remotes: [edge('relay', '@relay@b.test'), edge('closed', '@closed@b.test'), edge('wrong', '@wrong@b.test')],
    },
  ],
  b: [
    {
      ...{ id: 'relay', address: 'relay', remotes: [edge('last', '@last@c.test'), edge('vouched', '@vouched@c.test')] },
      access: {
        call: [
          ['@front@a.test', 'for:@local@a.test'],
          ['@*@x.test', `for:${mail}`],
        ],
      },
    },
    { id: 'lenient', address: 'lenient', remotes: [edge('last', '@last@c.test')], access: { call: ['@*@x.test'] } },
    { id: 'closed', address: 'closed', access: { call: [['@front@a.test', 'for:@eve@a.test']] } },
    // The agent itself is the caller, and not the one that it acts for.
    { id: 'wrong', address: 'wrong', access: { call: [['@front@a.test', 'for:@front@a.test']] } },
  ],
  c: [
    { id: 'vouched', address: 'vouched', access: { call: [['@relay@b.test', `for:${vouched}`]] } },
    {
      ...{ id: 'last', address: 'last' },
      access: {
        call: [
          ['@*@b.test', 'for:@front@a.test', 'from:@local@a.test'],
          ['@*@b.test', 'for:@a@x.test', `from:${mail}`],
        ],
      },
    },
  ],
}

let reissued = 0
/** For one audience and one message. */
const reissue: EvidenceIssuer['reissue'] = async ({ evidence: { subject }, audience: to, messageId: id }) => {
  reissued += 1
  return ids.evidence({ subject, audience: to, claims: { message: id } })
}

async function open(name: Name, resolve: Readonly<Record<string, string>>): Promise<void> {
  const config = await loadConfig({ cwd: '/', env: { WITAN_LOG_LEVEL: 'silent', WITAN_STORE_URL: 'memory:' } })
  const domain = `${name}.test`
  const server = await startServer({
    ...config,
    auth: { mode: 'none' },
    server: { ...config.server, port: 0, domain, publicUrl: `https://${domain}` },
    federation: {
      ...config.federation,
      resolve,
      trust: [{ issuer: 'https://ids.test', methods: ['*'], subjects: [vouched] }],
      issuers: name === 'b' ? [{ issuer: 'https://ids.test', reissue }] : [],
    },
    agents: agents[name].map((one) => ({ model: 'play/relay', instructions: 'Ask.', ...one }) as AgentInput),
    models: { 'play/relay': scriptedModel(rule, { id: 'play/relay' }) },
  })
  servers.set(name, server)
  doors[names.indexOf(name)]?.lead(server.url)
}

before(async () => {
  stranger = await createRemoteServer('x.test')
  ids = await createRemoteServer('ids.test')
  const own = names.map((name, at) => [`${name}.test`, doors[at]?.url ?? ''])
  const resolve = Object.fromEntries([...own, ['x.test', stranger.url], ['ids.test', ids.url]])
  for (const name of names) await open(name, resolve)
})
after(async () => {
  for (const door of doors) await door.close()
  for (const server of servers.values()) await server.close()
  await stranger?.close()
  await ids?.close()
})

async function api<T>(name: Name, path: string, body?: object): Promise<T> {
  const reply = await fetch(`${servers.get(name)?.url}/api/v1${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return (await reply.json()) as T
}

const conversations = async (name: Name) =>
  (await api<{ items: unknown[] }>(name, '/conversations?limit=100')).items.length

/** The stranger as a caller of `relay`, which lets it in for one person alone, or of `lenient`, which lets it in for anybody. */
function calling(local = 'relay'): A2aClient {
  const token = (params: unknown) => {
    const sent = (params as { message?: A2aMessage } | undefined)?.message
    return stranger.token({ aud: `@${local}@b.test`, ...(sent === undefined ? {} : { jti: sent.messageId }) })
  }
  const witan = {
    call: <T>(method: string, path: string, options: CallOptions = {}) =>
      request<T>(servers.get('b')?.url ?? '', path, { ...options, method }),
  }
  return a2aClient(() => witan as never, `/a2a/${local}`, token)
}

const audience = '@relay@b.test'
const shown = (...evidence: readonly unknown[]) => ({ metadata: { mentionable: { identity_evidence: evidence } } })
const carrying = (evidence: unknown, more: Partial<A2aMessage> = {}) => message('last', { ...shown(evidence), ...more })
const forUser = (content: object = {}) => stranger.evidence({ audience, on_behalf_of: [mail], ...content })
const inSeconds = (seconds: number) => new Date(Date.now() + seconds * 1000).toISOString()

describe('a person of one server, two servers further', () => {
  test('[M03] [M22] [M23] [E67] each server lets in whom the one before acts for, and the last one who began it', async () => {
    const { run } = await api<{ run: RunResult }>('a', '/conversations', { agent: 'front', prompt: 'relay' })
    assert.equal(`${run.status}: ${run.text}`, 'completed: [[reached]]')
  })

  test('[M24] who is let in for somebody else is let in for nobody here', async () => {
    const before = await conversations('b')
    for (const name of ['closed', 'wrong']) {
      const { run } = await api<{ run: RunResult }>('a', '/conversations', { agent: 'front', prompt: name })
      assert.match(run.text, /NOT_FOUND|404/, name)
    }
    assert.equal(await conversations('b'), before)
  })
})

describe('a caller that shows evidence', () => {
  test('[M03] [E67] is let in with it, and the next server hears for whom: the caller first, the origin last', async () => {
    const task = await calling().send(carrying(forUser()))
    assert.equal(answerOf(task), '[reached]')
    assertProblem(await calling().rpc('SendMessage', { message: message('go') }), { status: 404, code: 'NOT_FOUND' })
  })

  test('[E68] [M36] is refused with the code of what is wrong, in both bindings, and nothing begins', async () => {
    const used = forUser()
    const once = carrying(used)
    await calling().send(once)
    const before = await conversations('b')
    const rows: readonly (readonly [string, unknown])[] = [
      ['EVIDENCE_INVALID', { ...forUser(), on_behalf_of: ['mailto:boss@x.test'] }],
      ['EVIDENCE_INVALID', forUser({ claims: { message: 'another' } })],
      ['EVIDENCE_AUDIENCE', forUser({ audience: '@last@c.test' })],
      ['EVIDENCE_EXPIRED', forUser({ issued_at: inSeconds(-300), expires_at: inSeconds(-70) })],
      ['EVIDENCE_REPLAYED', used],
    ]
    for (const [code, piece] of rows) {
      assertProblem(await calling().rpc('SendMessage', { message: carrying(piece) }), { status: 401, code })
      const rest = await calling().rest('POST', '/message:send', { body: { message: carrying(piece) } })
      assertProblem(rest, { status: 401, code })
    }
    assert.equal(await conversations('b'), before)
    // The very message again is no other one.
    assert.equal(answerOf(await calling().send(once)), '[reached]')
  })

  test('[E69] [M31] what its issuer makes anew for the next server is let in there; the first piece goes no further', async () => {
    const by = ids.evidence({ subject: vouched, audience })
    assert.equal(answerOf(await calling().send(message('vouched', shown(forUser(), by)))), '[reached]')
    assert.equal(reissued, 1)
    const alone = answerOf(await calling().send(message('vouched', shown(forUser()))))
    assert.match(alone, /NOT_FOUND|404/)
    assert.equal(reissued, 1)
  })

  const to = { audience: '@lenient@b.test' }
  /** A task whose evidence was taken in within the skew of a minute, so that nothing may be made from it: it waits for its caller. */
  async function lapsed() {
    const late = forUser({ ...to, issued_at: inSeconds(-100), expires_at: inSeconds(-10) })
    const task = await calling('lenient').send(carrying(late))
    assert.equal(task.status.state, 'TASK_STATE_AUTH_REQUIRED')
    const [part] = task.status.message?.parts ?? []
    const { policy, state } = (part?.data ?? {}) as { policy: { code: string }; state: string }
    assert.equal(policy.code, 'EVIDENCE_EXPIRED')
    return { task, state, before: await conversations('c') }
  }

  test('[E22] whose evidence has expired when the next server is called is asked for fresh one, on the same task', async () => {
    const { task, before } = await lapsed()
    const hurried = await calling('lenient').send(message('hurry', { taskId: task.id }))
    assert.equal(hurried.status.state, 'TASK_STATE_AUTH_REQUIRED', 'a message without evidence changes nothing')
    assert.equal(await conversations('c'), before)
    const ended = await calling('lenient').send(carrying(forUser(to), { taskId: task.id }))
    assert.equal(ended.id, task.id)
    assert.match(answerOf(ended), /reached/)
    assert.equal(await conversations('c'), before + 1)
  })

  test('[E22] [Mb13] its resolution with fresh evidence does the same, and one without lets the call go out without', async () => {
    for (const evidence of [[forUser(to)], []]) {
      const { task, state, before } = await lapsed()
      const mentionable = { identity_evidence: evidence, policy_resolution: { in_reply_to_state: state } }
      const parts = [{ data: { type: 'policy_resolution' } }]
      const ended = await calling('lenient').send(message(parts, { taskId: task.id, metadata: { mentionable } }))
      assert.match(answerOf(ended), evidence.length > 0 ? /reached/ : /NOT_FOUND|404/)
      assert.equal(await conversations('c'), before + evidence.length)
    }
  })
})
