/** A server with published agents, and callers over A2A in both bindings: with keys of this server, tokens of other ones, and nothing. */
import { generateKeyPairSync, randomUUID, sign } from 'node:crypto'
import { createRuntime, memoryStore, type Runtime, type RuntimeOptions } from '@witan/core'
import { createApp, createAuth, createLog } from '@witan/server'

export const domain = 'bots.example'
const { privateKey, publicKey } = generateKeyPairSync('ed25519')
const jwk = { ...publicKey.export({ format: 'jwk' }), kid: 'k' }
/** The `did:web` whose credentials are believed, and what signs them, tokens and evidence. */
export const vouching = { did: 'did:web:ids.test', key: privateKey, kid: 'k' }
const didDocument = {
  id: vouching.did,
  verificationMethod: [{ id: `${vouching.did}#k`, type: 'JsonWebKey', controller: vouching.did, publicKeyJwk: jwk }],
  assertionMethod: [`${vouching.did}#k`],
}
const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')

/** A good token of an agent of another server. */
function tokenOf(sub: string, { aud, jti, chain }: Shown): string {
  const iat = Math.floor(Date.now() / 1000)
  const iss = `https://${sub.slice(sub.lastIndexOf('@') + 1)}`
  const more = chain === undefined ? {} : { witan_chain: chain }
  const text = `${encoded({ alg: 'EdDSA', kid: 'k' })}.${encoded({ iss, sub, aud, iat, exp: iat + 300, jti, ...more })}`
  return `${text}.${sign(null, Buffer.from(text), privateKey).toString('base64url')}`
}

/** What a credential is shown for. */
interface Shown {
  readonly aud: string
  readonly jti: string
  readonly chain?: unknown
}

/** A caller, and its bearer for a request. */
export interface Who {
  readonly name: string
  readonly bearer: (shown: Shown) => string | null
}

/** An agent of another server. */
export const remote = (name: string, sub: string): Who => ({ name, bearer: (shown) => tokenOf(sub, shown) })

/** A method and its parameters. */
export type Sent = readonly [method: string, params: Readonly<Record<string, unknown>>]

/** Where a request goes: to an agent, or to the hub with what a text begins with there. */
export const ways = ['JSON-RPC', 'HTTP+JSON', 'the hub', 'the hub over HTTP+JSON'] as const
export type Way = (typeof ways)[number]

/** The agent that is called, how, and what a token says of the chain. */
interface Target {
  readonly local: string
  readonly way?: Way
  readonly chain?: unknown
}

export interface OutsideWorld {
  readonly runtime: Runtime
  /** All that the caller reads of the answer. */
  post(who: Who, sent: Sent, to: Target): Promise<string>
  /** A key of this server. */
  key(name: string, id: string, roles: readonly string[]): Promise<Who>
  close(): Promise<void>
}

/** The path and the body of a method in HTTP+JSON. */
function restOf([method, params]: Sent): readonly [verb: string, path: string, body?: unknown] {
  const { id, ...rest } = params
  if (method === 'SendMessage') return ['POST', '/message:send', params]
  if (method === 'SendStreamingMessage') return ['POST', '/message:stream', params]
  if (method === 'GetTask') return ['GET', `/tasks/${String(id)}?historyLength=99`]
  if (method === 'CancelTask' || method === 'SubscribeToTask')
    return ['POST', `/tasks/${String(id)}:${method === 'CancelTask' ? 'cancel' : 'subscribe'}`, {}]
  if (method === 'ListTasks')
    return [
      'GET',
      `/tasks?${new URLSearchParams(Object.entries(rest).map(([name, value]): [string, string] => [name, String(value)]))}`,
    ]
  return ['GET', `/tasks/${String(params['taskId'])}/pushNotificationConfigs${method.startsWith('List') ? '' : '/one'}`]
}

/** At the hub a new text has to name its agent. */
function handled(message: Readonly<Record<string, unknown>>, local: string): Readonly<Record<string, unknown>> {
  const { parts, contextId, taskId } = message
  const isNew = contextId === undefined && taskId === undefined
  return isNew && Array.isArray(parts) ? { ...message, parts: [{ text: `@${local} ` }, ...parts] } : message
}

/** Creates the server. `write` gets each line of its log, at its most talkative. */
export function createOutsideWorld(options: RuntimeOptions, write?: (line: string) => void): OutsideWorld {
  const runtime = createRuntime({
    ...{ store: memoryStore(), domains: { [domain]: 'default' }, retry: { tries: 1 }, report: () => undefined },
    ...options,
  })
  const stop = new AbortController()
  const app = createApp({
    ...{ runtime, auth: createAuth('none', () => 80), hosts: { port: () => 80, allowed: [] } },
    ...{ log: createLog(write === undefined ? 'silent' : 'debug', write), studio: new URL('about:blank') },
    fetchJson: async (url) => (url.endsWith('/did.json') ? didDocument : { keys: [jwk] }),
    stop: { streams: stop.signal, waits: stop.signal },
    federation: {
      ...{ domain, domains: [domain], publicUrl: () => 'http://localhost', maxHops: 4, maxOpenTasks: 10_000 },
      ...{ defaultAgent: null, resolve: {}, trust: [{ issuer: vouching.did, methods: ['*'], subjects: ['x:u'] }] },
    },
  })
  return {
    runtime,
    async post(who, [method, params], { local, way = 'JSON-RPC', chain }) {
      const [isHub, isRpc] = [way.startsWith('the hub'), !way.endsWith('HTTP+JSON')]
      const jti = randomUUID()
      const { message } = params
      const named =
        typeof message === 'object' && message !== null ? { messageId: jti, role: 'ROLE_USER', ...message } : null
      const whole = named === null ? params : { ...params, message: isHub ? handled(named, local) : named }
      const bearer = who.bearer({ aud: isHub ? `https://${domain}` : `@${local}@${domain}`, jti, chain })
      const headers: Record<string, string> = { 'content-type': 'application/json', 'a2a-version': '1.0' }
      if (bearer !== null) headers['authorization'] = `Bearer ${bearer}`
      const base = `http://localhost/a2a${isHub ? '' : `/${local}`}`
      const [verb, path, body] = isRpc
        ? ['POST', '', { jsonrpc: '2.0', id: 1, method, params: whole }]
        : restOf([method, whole])
      const sent = body === undefined ? {} : { body: JSON.stringify(body) }
      const at = isRpc ? base : `${base}/v1${path}`
      return (await app.fetch(new Request(at, { method: verb ?? 'POST', headers, ...sent }))).text()
    },
    async key(name, id, roles) {
      const { key } = await runtime.keys.create({ id, roles: [...roles] })
      return { name, bearer: () => key }
    },
    async close() {
      stop.abort()
      await runtime.close()
    },
  }
}
