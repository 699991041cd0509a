/**
 * What a call over A2A costs beside the API: `npm run bench:a2a -- [--ms 1000] [--rounds 5] [--stores memory,normal]`. CPU of the whole process
 * for one request through the application, without a socket, with an instant model: a new conversation with its run over the API, and a
 * message over A2A with an API key and with a JWT of another server whose keys are known. Rounds take turns. Then the same run as a stream
 * of 300 pieces of text, as our own events and over A2A in both bindings: CPU for each frame.
 */
import { generateKeyPairSync, randomUUID, sign } from 'node:crypto'
import { parseArgs } from 'node:util'
import { createRuntime, defineAgent, type Model } from '@witan/core'
import { createApp, createAuth, createLog } from '@witan/server'
import { aboutHere } from './about.ts'
import { percentile } from './figure.ts'
import { gridOf } from './grid.ts'
import { type GroundName, openGround, storeAt } from './ground.ts'
import { cpuNow } from './measure.ts'

const { values } = parseArgs({
  options: {
    ms: { type: 'string', default: '1000' },
    rounds: { type: 'string', default: '5' },
    stores: { type: 'string', default: 'memory,normal' },
  },
})

const usage = { inputTokens: 1, outputTokens: 1, cachedInputTokens: 0, reasoningTokens: 0 }
const pieces = 300
const model: Model = {
  id: 'bench/instant',
  async *stream({ messages }, { deltas }) {
    if (JSON.stringify(messages.at(-1)).includes('talk'))
      for (let piece = 0; piece < pieces; piece += 1) {
        if (deltas) yield { type: 'delta', text: `piece ${piece} ` }
        await new Promise((resolve) => setImmediate(resolve))
      }
    yield { type: 'reply', reply: { text: 'done', toolCalls: [], finishReason: 'stop', usage, model: null } }
  },
}
const domain = 'bots.example'
const { privateKey, publicKey } = generateKeyPairSync('ed25519')
const jwk = { ...publicKey.export({ format: 'jwk' }), kid: 'k', alg: 'EdDSA', use: 'sig' }
const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')

function tokenFor(jti: string): string {
  const iat = Math.floor(Date.now() / 1000)
  const claims = { iss: 'https://a.test', sub: '@a@a.test', aud: `@docs@${domain}`, iat, exp: iat + 300, jti }
  const text = `${encoded({ alg: 'EdDSA', kid: 'k' })}.${encoded({ ...claims, witan_chain: { hop: 1, max_hops: 4, path: [] } })}`
  return `${text}.${sign(null, Buffer.from(text), privateKey).toString('base64url')}`
}

const json = { 'content-type': 'application/json' }

function overApi(): Request {
  const body = JSON.stringify({ agent: 'docs', prompt: 'hello' })
  return new Request('http://localhost/api/v1/conversations', { method: 'POST', headers: json, body })
}

function overA2a(bearer: (messageId: string) => string, text = 'hello', method = 'SendMessage'): Request {
  const messageId = randomUUID()
  const params = { message: { messageId, role: 'ROLE_USER', parts: [{ text }] } }
  const headers = { ...json, 'a2a-version': '1.0', authorization: `Bearer ${bearer(messageId)}` }
  const isRest = method.startsWith('/')
  const body = JSON.stringify(isRest ? params : { jsonrpc: '2.0', id: 1, method, params })
  return new Request(`http://localhost/a2a/docs${isRest ? method : ''}`, { method: 'POST', headers, body })
}

async function measured(name: GroundName): Promise<readonly (readonly [string, string, string])[]> {
  const ground = openGround()
  const access = { call: ['user:anna', 'user:local', '@*@a.test'] }
  const docs = defineAgent({ id: 'docs', instructions: 'Answer.', model, address: 'docs', access })
  const store = storeAt(await ground.site(name))
  const runtime = createRuntime({ store, agents: [docs], domains: { [domain]: 'default' } })
  const { key } = await runtime.keys.create({ id: 'user:anna', roles: ['run'] })
  const stop = new AbortController()
  const federation = {
    maxHops: 4,
    maxOpenTasks: 10_000,
    defaultAgent: null,
    trust: [],
    resolve: {},
    domain,
    domains: [domain],
  }
  const app = createApp({
    ...{ runtime, auth: createAuth('none', () => 80), hosts: { port: () => 80, allowed: [] } },
    ...{ log: createLog('silent'), studio: new URL('about:blank'), fetchJson: async () => ({ keys: [jwk] }) },
    stop: { streams: stop.signal, waits: stop.signal },
    federation: { ...federation, publicUrl: () => 'http://localhost' },
  })
  /** A conversation is made before its run is measured. */
  const ownStream = async (): Promise<Request> => {
    const body = JSON.stringify({ agent: 'docs' })
    const url = 'http://localhost/api/v1/conversations'
    const made = await app.fetch(new Request(url, { method: 'POST', headers: json, body }))
    const { id } = (await made.json()) as { id: string }
    const headers = { ...json, accept: 'text/event-stream' }
    const path = `${url}/${encodeURIComponent(id)}/runs`
    return new Request(path, { method: 'POST', headers, body: JSON.stringify({ prompt: 'talk' }) })
  }
  const subjects: Record<string, () => Request | Promise<Request>> = {
    'POST /conversations': overApi,
    'A2A with a key': () => overA2a(() => key),
    'A2A with a JWT': () => overA2a(tokenFor),
    'our stream': ownStream,
    'A2A stream': () => overA2a(tokenFor, 'talk', 'SendStreamingMessage'),
    'A2A stream, HTTP+JSON': () => overA2a(tokenFor, 'talk', '/v1/message:stream'),
  }
  const costs = new Map(Object.keys(subjects).map((what) => [what, [] as number[]]))
  for (let round = 0; round <= Number(values.rounds); round += 1)
    for (const [what, make] of Object.entries(subjects)) {
      const until = performance.now() + Number(values.ms)
      let [spent, count] = [0, 0]
      while (performance.now() < until) {
        const request = await make()
        const from = cpuNow()
        const response = await app.fetch(request)
        const text = await response.text()
        spent += cpuNow() - from
        count += what.includes('stream') ? text.split('\n\n').length - 1 : 1
        if (response.status >= 300 || !text.includes('done')) throw new Error(`${what}: ${response.status} ${text}`)
      }
      if (round > 0) costs.get(what)?.push(spent / count)
    }
  stop.abort()
  await runtime.close()
  await ground.close()
  return [...costs].map(([what, rounds]) => [name, what, (percentile(rounds, 0.5) / 1000).toFixed(3)])
}

console.log(aboutHere())
const rows: (readonly string[])[] = []
for (const name of values.stores.split(',')) rows.push(...(await measured(name as GroundName)))
console.log(gridOf(['store', 'request', 'CPU ms, of a stream for each frame'], rows))
