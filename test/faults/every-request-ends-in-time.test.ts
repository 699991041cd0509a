/**
 * Every request that writes ends within 15 s, with the settings that a store has by default: while the server falls silent, while commits wait for
 * a standby that is away, and while each of these waits is ended. None is acknowledged.
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { defineAgent } from '@witan/core'
import { call, scriptedModel, toolResults } from '@witan/core/testing'
import { loadConfig, startServer } from '@witan/server'
import { watchNoise } from '../support/noise.ts'
import { repeat, startPair } from '../postgres/support/pair.ts'
import { openProxy } from '../postgres/support/proxy.ts'

const mostMs = 15_000

const definition = (id: string, instructions = 'x') => ({ id, model: 'play/model', instructions })
const others = ['changed', 'deleted', 'parent', 'child'].map((id) => definition(id))

interface Sent {
  readonly status: number
  readonly body: Record<string, unknown>
}

type Call = (...request: Request) => Promise<Sent>

/** The request of each kind of write, made from what is there before. It has a key, unless it is to go without. */
type Request = readonly [method: string, path: string, body?: object, isKeyed?: boolean]

/** What is there before, and what is then asked for. */
async function requests(call: Call): Promise<Readonly<Record<string, Request>>> {
  const made = async (method: string, path: string, body: object) => {
    const { status, body: reply } = await call(method, path, body)
    assert.ok(status < 300, `${method} ${path}: ${status} ${JSON.stringify(reply)}`)
    return reply
  }
  for (const agent of others) await made('PUT', `/agents/${agent.id}`, agent)
  const begin = async (more: object = {}) => {
    const { id } = await made('POST', '/conversations', { agent: 'clerk', ...more })
    return `/conversations/${String(id).replace('/', ':')}`
  }
  const [talked, joined, left, deleted, forked, ...alone] = await Promise.all(Array.from({ length: 9 }, () => begin()))
  await made('POST', `${left}/participants`, { id: 'anna' })
  const documents = ['known', 'unread'].map((key) => ({ key, mediaType: 'text/plain', text: 'Gates open at nine.' }))
  for (const base of ['changed', 'dropped']) await made('PUT', `/knowledge/${base}`, { name: 'Handbook' })
  await made('POST', '/knowledge/changed/documents', { documents: documents.slice(0, 1) })
  const asked = await Promise.all(
    ['answer', 'cancel'].map(async () => {
      const at = await begin()
      const { interruptions, runId } = await made('POST', `${at}/runs`, { prompt: 'Open the gate.' })
      const [open] = interruptions as { id: string }[]
      return { id: open?.id ?? '', run: runId as string }
    }),
  )
  const { keyId } = await made('POST', '/keys', { roles: ['run'] })
  const file = { name: 'a.txt', mediaType: 'text/plain', data: Buffer.from('x').toString('base64') }
  const protocol = { messages: [{ name: 'ask', from: 'initiator', schema: { type: 'object' } }] }
  return {
    'an agent is saved': ['PUT', '/agents/fresh', definition('fresh')],
    'an agent is changed': ['PUT', '/agents/changed', definition('changed', 'y')],
    'an agent is deleted': ['DELETE', '/agents/deleted'],
    'a sub-agent is assigned': ['PUT', '/agents/parent', { ...definition('parent'), subAgents: [{ agent: 'child' }] }],
    'a protocol is saved': ['PUT', '/protocols/bring', protocol],
    'a key is made': ['POST', '/keys', { roles: ['run'] }],
    'a key is revoked': ['DELETE', `/keys/${String(keyId)}`],
    'a conversation is begun': ['POST', '/conversations', { agent: 'clerk' }],
    'a run is started': ['POST', '/conversations', { agent: 'clerk', prompt: 'Hi.' }],
    'a message is sent': ['POST', `${talked}/runs`, { prompt: 'Hi.' }],
    'a message with a file is sent': ['POST', `${joined}/runs`, { prompt: [{ type: 'file', ...file }] }],
    'an interruption is answered': [
      'POST',
      `/interruptions/${asked[0]?.id}/answer`,
      { answer: { response: 'opened' } },
    ],
    'a run is cancelled': ['POST', `/runs/${asked[1]?.run}/cancel`],
    'a person is added': ['POST', `${joined}/participants`, { id: 'bo' }],
    'a person is removed': ['DELETE', `${left}/participants/anna`],
    'a conversation is forked': ['POST', `${forked}/fork`, {}],
    'a conversation is deleted': ['DELETE', deleted as string],
    'a knowledge base is saved': ['PUT', '/knowledge/fresh', { name: 'Handbook' }],
    'a knowledge base is deleted': ['DELETE', '/knowledge/dropped'],
    'a document is taken': ['POST', '/knowledge/changed/documents', { documents: documents.slice(1), wait: false }],
    'a document is deleted': ['DELETE', '/knowledge/changed/documents/known'],
    // More than there are groups of appends at once.
    ...Object.fromEntries(
      alone.map((at, index): [string, Request] => [
        `message ${index + 1} is sent without a key`,
        ['POST', `${at}/runs`, { prompt: 'Hi.' }, false],
      ]),
    ),
    'a run is started without a key': ['POST', '/conversations', { agent: 'clerk', prompt: 'Hi.' }, false],
  }
}

async function serve(context: TestContext, url: string) {
  const model = scriptedModel((request) => toolResults(request)[0] ?? call('OpenGate'))
  const env = { WITAN_LOG_LEVEL: 'silent', WITAN_STORE_URL: url, WITAN_AUTH_MODE: 'none' }
  const config = await loadConfig({ cwd: '/', env })
  const clerk = defineAgent({ ...definition('clerk'), model, actions: [{ name: 'OpenGate', description: 'Opens.' }] })
  const models = { ...config.models, 'play/model': model }
  const server = await startServer({ ...config, server: { ...config.server, port: 0 }, models, agents: [clerk] })
  context.after(() => server.close())
  let number = 0
  const call_: Call = async (...[method, path, body, isKeyed = true]) => {
    number += 1
    const key = isKeyed ? { 'idempotency-key': `${method} ${path} ${number}` } : {}
    const headers = { 'content-type': 'application/json', ...key }
    const given = body === undefined ? {} : { body: JSON.stringify(body) }
    const response = await fetch(`${server.url}/api/v1${path}`, { method, headers, ...given })
    const text = await response.text()
    return { status: response.status, body: text === '' ? {} : JSON.parse(text) }
  }
  return call_
}

interface Trouble {
  /** What is wrong from now on, until the returned function is called. `over` settles once all requests have ended. */
  begin(
    pair: Awaited<ReturnType<typeof startPair>>,
    proxy: Awaited<ReturnType<typeof openProxy>>,
    over: Promise<unknown>,
  ): Promise<() => Promise<void>>
}

const back =
  ({ standby }: { readonly standby: { start(): Promise<unknown> } }) =>
  async () =>
    void (await standby.start())

const troubles: Readonly<Record<string, Trouble>> = {
  'the server falls silent': {
    async begin(_, proxy) {
      proxy.silence(true)
      return async () => proxy.silence(false)
    },
  },
  'commits wait for a standby that is away': {
    async begin(pair) {
      await pair.standby.stop('fast')
      return back(pair)
    },
  },
  'each wait for a standby is ended': {
    async begin(pair, _, over) {
      await pair.standby.stop('fast')
      const sql = "select pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'SyncRep'"
      void repeat(pair.primary.url, sql, over)
      return back(pair)
    },
  },
}

for (const [what, { begin }] of Object.entries(troubles))
  test(`[I1] while ${what}, no write is acknowledged, and each request ends within 15 s`, {
    timeout: 180_000,
  }, async (context) => {
    const pair = await startPair(context)
    const proxy = await openProxy(pair.primary.url)
    context.after(() => proxy.close())
    const send = await serve(context, proxy.url)
    const all = Object.entries(await requests(send))
    const over = Promise.withResolvers<void>()
    const end = await begin(pair, proxy, over.promise)
    const noise = watchNoise()
    const took = await Promise.all(
      all.map(async ([kind, request]) => {
        const from = performance.now()
        const { status, body } = await send(...request)
        return { kind, status, code: body['code'], ms: Math.round(performance.now() - from) }
      }),
    )
    over.resolve()
    noise.stop()
    await end()
    context.diagnostic(took.map(({ kind, status, ms }) => `${kind}: ${status} after ${ms} ms`).join('; '))
    context.diagnostic(`the machine was up to ${noise.worst()} ms late`)
    assert.deepEqual(
      took.filter(({ status, code }) => status !== 503 || code !== 'STORE_UNAVAILABLE'),
      [],
    )
    assert.deepEqual(
      took.filter(({ ms }) => ms > mostMs + noise.worst()),
      [],
    )
  })
