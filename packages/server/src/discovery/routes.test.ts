/** What other servers read without a credential: found only if published, to the byte of the contract, and signed. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { AgentCard } from '@a2a-js/sdk'
import { verifyAgentCardSignature } from '@a2a-js/sdk'
import { DefaultAgentCardResolver } from '@a2a-js/sdk/client'
import { createRuntime, type Runtime } from '@witan/core'
import { scriptedModel } from '@witan/core/testing'
import type { DatabaseId } from '@witan/protocol'
import { createApp } from '../app.ts'
import type { App } from '../app-options.ts'
import { createAuth } from '../auth.ts'
import { noFederation } from '../federation-config.ts'
import { createLog } from '../log.ts'

const publicUrl = 'https://bots.example.com'
const domains = { 'example.com': 'default', 'acme.example': 'acme' }
const extensions = [
  { uri: 'https://mentionable.dev/ns/normalized-message/v0.1' },
  { uri: 'https://mentionable.dev/ns/identity/v0.1' },
  { uri: 'https://mentionable.dev/ns/policy/v0.1' },
  { uri: 'https://witan.dev/ns/a2a/idempotent/v1' },
]
const agent = (id: string, more: object) => ({ id, model: 'play/model', instructions: 'x', ...more })

function appOf(runtime: Runtime, names: Partial<typeof noFederation>): App {
  const never = new AbortController().signal
  return createApp({
    runtime,
    auth: createAuth('local', () => 4747),
    hosts: { port: () => 4747, allowed: ['bots.example.com'], domains: Object.keys(domains) },
    log: createLog('error', () => undefined),
    stop: { streams: never, waits: never },
    federation: { ...noFederation, publicUrl: () => publicUrl, ...names },
    studio: new URL('file:///nowhere/'),
  })
}

describe('what others read', () => {
  let runtime: Runtime
  let app: App
  before(async () => {
    runtime = createRuntime({ domains, models: { 'play/model': scriptedModel(() => 'x', { id: 'play/model' }) } })
    const admin = { id: 'user:root', roles: ['admin'], address: null }
    const acme = runtime.as({ ...admin, database: 'acme' as DatabaseId })
    await runtime.agents.saveAll([
      agent('manual', { address: 'docs', name: 'Docs', description: 'Finds pages.' }),
      agent('open', { address: 'open', access: { call: ['anonymous', '@*'] } }),
      agent('ajar', { address: 'ajar', access: { call: [['anonymous', '@a@a.example']] } }),
      agent('hidden', {}),
      agent('off', { address: 'off', disabled: true }),
      agent('long', { address: 'long', description: `${'ü'.repeat(99_999)}` }),
    ])
    await acme.agents.save(agent('sales', { address: 'docs' }))
    app = appOf(runtime, { domain: 'example.com', domains: Object.keys(domains) })
  })
  after(() => runtime.close())

  const get = async (path: string, headers: Record<string, string> = {}, method = 'GET') =>
    app.fetch(new Request(`${publicUrl}${path}`, { method, headers: { host: 'bots.example.com', ...headers } }))
  const json = async (path: string, headers: Record<string, string> = {}) => {
    const reply = await get(path, headers)
    assert.equal(reply.status, 200, path)
    return (await reply.json()) as Record<string, unknown>
  }

  test('[Mb02] WebFinger leads to the card of a published agent, for pages of every origin', async () => {
    for (const resource of ['acct:docs@example.com', 'acct:Docs@EXAMPLE.com', 'acct%3Adocs%40example.com']) {
      const reply = await get(`/.well-known/webfinger?resource=${resource}&rel=self&rel=other`, { host: 'example.com' })
      assert.equal(reply.headers.get('content-type'), 'application/jrd+json')
      assert.equal(reply.headers.get('access-control-allow-origin'), '*')
      assert.deepEqual(await reply.json(), {
        subject: 'acct:docs@example.com',
        links: [
          {
            rel: 'https://mentionable.dev/ns/rel/agent-card',
            type: 'application/json',
            href: `${publicUrl}/.well-known/agent-card/docs`,
          },
        ],
      })
    }
    const other = await json('/.well-known/webfinger?resource=acct:docs@acme.example')
    assert.match(JSON.stringify(other), /agent-card\/docs@acme\.example"/)
  })

  test('[Mb02] WebFinger refuses what is no resource with 400, and knows no agent that is not published', async () => {
    for (const [query, status] of [
      ['', 400],
      ['?resource=', 400],
      ['?resource=docs@example.com', 400],
      ['?resource=https://example.com/docs', 400],
      ['?resource=acct:docs', 400],
      ['?resource=acct:docs@localhost', 400],
      ['?resource=acct:docs@127.0.0.1', 400],
      ['?resource=acct:docs@example.com&resource=acct:open@example.com', 400],
      [`?resource=acct:${'x'.repeat(9_000)}@example.com`, 400],
      ['?resource=acct:nobody@example.com', 404],
      ['?resource=acct:hidden@example.com', 404],
      ['?resource=acct:manual@example.com', 404],
      ['?resource=acct:off@example.com', 404],
      ['?resource=acct:sales@acme.example', 404],
      ['?resource=acct:docs@elsewhere.example', 404],
      ['?resource=acct:__proto__@example.com', 404],
      ['?resource=acct:constructor@example.com', 404],
    ] as const) {
      const reply = await get(`/.well-known/webfinger${query}`)
      assert.equal(reply.status, status, query)
      assert.equal(reply.headers.get('content-type'), 'application/problem+json')
    }
  })

  test('[Mb14] the Mentionable card is that of the contract', async () => {
    for (const path of ['docs', 'DOCS', 'docs@example.com', 'docs%40example.com'])
      assert.deepEqual(await json(`/.well-known/agent-card/${path}`), {
        address: '@docs@example.com',
        name: 'Docs',
        description: 'Finds pages.',
        version: '1',
        protocol_version: '0.1',
        a2a: {
          endpoint: `${publicUrl}/a2a/docs`,
          transport: 'https+jsonrpc',
          capabilities: { streaming: true, push_notifications: false, extensions },
          skills: [{ id: 'docs', name: 'Docs', description: 'Finds pages.', tags: ['agent'] }],
          input_modes: [{ kind: 'text', mime: 'text/plain' }],
          output_modes: [{ kind: 'text', mime: 'text/plain' }],
          auth: { scheme: 'bearer-jwt' },
        },
        mentionable: { supported_inbound: ['a2a'] },
      })
    const other = await json('/.well-known/agent-card/docs@acme.example')
    assert.equal((other['a2a'] as { endpoint: string }).endpoint, `${publicUrl}/a2a/docs@acme.example`)
  })

  test('[Mb14] the A2A card is that of the contract, and the official SDK reads it and its signature', async () => {
    const path = '/a2a/docs/.well-known/agent-card.json'
    const { signatures, ...card } = await json(path)
    assert.deepEqual(card, {
      name: 'Docs',
      description: 'Finds pages.',
      version: '1',
      supportedInterfaces: [
        { url: `${publicUrl}/a2a/docs`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
        { url: `${publicUrl}/a2a/docs/v1`, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
      ],
      capabilities: { streaming: true, pushNotifications: false, extendedAgentCard: false, extensions },
      securitySchemes: { bearer: { httpAuthSecurityScheme: { scheme: 'Bearer' } } },
      securityRequirements: [{ schemes: { bearer: {} } }],
      defaultInputModes: ['text/plain', 'application/json'],
      defaultOutputModes: ['text/plain', 'application/json'],
      skills: [{ id: 'docs', name: 'Docs', description: 'Finds pages.', tags: ['agent'] }],
    })
    const [signature] = signatures as { protected: string }[]
    const { keys } = (await json('/.well-known/jwks.json')) as { keys: { kid: string }[] }
    assert.deepEqual(JSON.parse(Buffer.from(signature?.protected ?? '', 'base64url').toString()), {
      alg: 'EdDSA',
      typ: 'JOSE',
      kid: keys[0]?.kid,
      jku: 'https://example.com/.well-known/jwks.json',
    })
    const verify = verifyAgentCardSignature(async (kid) => keys.find((key) => key.kid === kid) ?? {})
    await verify((await json(path)) as unknown as AgentCard)
    const fetchImpl = async (url: string | URL | Request) => get(new URL(String(url)).pathname)
    const resolver = new DefaultAgentCardResolver({ fetchImpl })
    const read = await resolver.resolve(`${publicUrl}/a2a/docs/`, '.well-known/agent-card.json')
    assert.deepEqual([read.name, read.supportedInterfaces.length, read.signatures.length], ['Docs', 2, 1])
    // The SDK verifies a card that its own resolver has read only without security schemes: it reads them twice.
    await verify(await resolver.resolve(`${publicUrl}/a2a/open/`, '.well-known/agent-card.json'))
  })

  test('[Mb14] an agent that callers without a credential may call asks for none', async () => {
    for (const name of ['open', 'ajar']) {
      const card = await json(`/a2a/${name}/.well-known/agent-card.json`)
      assert.ok(!('securitySchemes' in card) && !('securityRequirements' in card), name)
    }
  })

  test('[Mb14] a card stays below what others read, however long its description', async () => {
    for (const path of [
      '/a2a/long/.well-known/agent-card.json',
      '/.well-known/agent-card/long',
      '/.well-known/agent-card.json',
    ])
      assert.ok((await (await get(path)).arrayBuffer()).byteLength < 65_536, path)
  })

  test('[Mb14] [Mb15] every card stays below what others read, however many agents there are and whatever they say', async () => {
    const many = createRuntime({ domains, models: { 'play/model': scriptedModel(() => 'x', { id: 'play/model' }) } })
    try {
      const words = ['d'.repeat(400), '\u0001'.repeat(99_999), '\u{1f600}'.repeat(3_000), 'ü'.repeat(6_000)]
      const all = Array.from({ length: 600 }, (_, at) =>
        agent(`a${at}`, {
          address: `a${at}`,
          name: `${'\u{1f600}'.repeat(50)} ${at}`,
          description: words[at % words.length],
        }),
      )
      for (let from = 0; from < all.length; from += 100) await many.agents.saveAll(all.slice(from, from + 100))
      const of = appOf(many, { domain: 'example.com', domains: Object.keys(domains) })
      const read = async (path: string) => {
        const headers = { host: 'bots.example.com' }
        const bytes = await (await of.fetch(new Request(`${publicUrl}${path}`, { headers }))).arrayBuffer()
        assert.ok(bytes.byteLength <= 65_536, `${path}: ${bytes.byteLength}`)
        return JSON.parse(Buffer.from(bytes).toString()) as { description: string; skills: { id: string }[] }
      }
      await many.signingKeys.rotate()
      for (const at of words.keys())
        for (const path of [`/a2a/a${at}/.well-known/agent-card.json`, `/.well-known/agent-card/a${at}`])
          await read(path)
      const { description, skills } = await read('/.well-known/agent-card.json')
      assert.ok(skills.length >= 20 && skills.length < 600, String(skills.length))
      assert.match(description, new RegExp(`Its skills are the first ${skills.length} of 600 agents\\.$`))
      const names = all.map(({ id }) => id).sort()
      assert.deepEqual(
        skills.map(({ id }) => id),
        names.slice(0, skills.length),
      )
    } finally {
      await many.close()
    }
  })

  test('[Mb15] the hub has a skill for each published agent of its domain', async () => {
    const skills = async (host: string) =>
      ((await json('/.well-known/agent-card.json', { host }))['skills'] as { id: string }[]).map(({ id }) => id)
    assert.deepEqual(await skills('bots.example.com'), ['ajar', 'docs', 'long', 'open'])
    assert.deepEqual(await skills('example.com'), ['ajar', 'docs', 'long', 'open'])
    assert.deepEqual(await skills('acme.example'), ['docs'])
    const { supportedInterfaces, name } = await json('/.well-known/agent-card.json')
    assert.deepEqual(
      [name, (supportedInterfaces as { url: string }[]).map(({ url }) => url)],
      ['example.com', [`${publicUrl}/a2a`, `${publicUrl}/a2a/v1`]],
    )
  })

  test('the keys are published as a set and as a DID document, without private parts', async () => {
    const { keys } = (await json('/.well-known/jwks.json')) as { keys: Record<string, string>[] }
    assert.deepEqual(Object.keys(keys[0] ?? {}), ['kty', 'crv', 'x', 'kid', 'alg', 'use'])
    assert.deepEqual([keys[0]?.['alg'], keys[0]?.['use']], ['EdDSA', 'sig'])
    const did = await json('/.well-known/did.json', { host: 'acme.example' })
    const id = `did:web:acme.example#${keys[0]?.['kid']}`
    assert.deepEqual([did['id'], did['assertionMethod']], ['did:web:acme.example', [id]])
    assert.deepEqual(did['verificationMethod'], [
      { id, type: 'JsonWebKey', controller: 'did:web:acme.example', publicKeyJwk: keys[0] },
    ])
  })

  test('cards have a tag, a date and a time to keep; who has one gets 304', async () => {
    for (const path of [
      '/.well-known/agent-card/docs',
      '/a2a/docs/.well-known/agent-card.json',
      '/.well-known/agent-card.json',
      '/.well-known/jwks.json',
    ]) {
      const first = await get(path)
      const etag = first.headers.get('etag') ?? ''
      assert.match(etag, /^"[\w-]{32}"$/)
      assert.equal(first.headers.get('cache-control'), 'max-age=300')
      assert.ok(!Number.isNaN(Date.parse(first.headers.get('last-modified') ?? '')))
      assert.equal((await get(path, { 'if-none-match': etag })).status, 304)
      assert.equal((await get(path, { 'if-none-match': '"other"' })).status, 200)
      const head = await get(path, {}, 'HEAD')
      assert.deepEqual([head.status, await head.text()], [200, ''])
      assert.equal((await get(path, {}, 'DELETE')).status, 405)
    }
  })

  test('after a rotation cards have both signatures, and both keys are published', async () => {
    const before = await get('/a2a/docs/.well-known/agent-card.json')
    await runtime.signingKeys.rotate()
    const { signatures } = await json('/a2a/docs/.well-known/agent-card.json')
    const { keys } = (await json('/.well-known/jwks.json')) as { keys: { kid: string }[] }
    assert.deepEqual(
      (signatures as { protected: string }[]).map(
        (one) => JSON.parse(Buffer.from(one.protected, 'base64url').toString()).kid,
      ),
      keys.map(({ kid }) => kid),
    )
    assert.equal(keys.length, 2)
    const etag = before.headers.get('etag') ?? ''
    assert.equal((await get('/a2a/docs/.well-known/agent-card.json', { 'if-none-match': etag })).status, 200)
  })

  test('[C31] an agent that is missing, not published or disabled is the same 404', async () => {
    const texts = new Set<string>()
    for (const name of [
      'nobody',
      'hidden',
      'manual',
      'off',
      'sales',
      'docs@elsewhere.example',
      '__proto__',
      '%00',
      'v1',
      'acct:docs@example.com',
      '%ff',
    ])
      for (const path of [`/.well-known/agent-card/${name}`, `/a2a/${name}/.well-known/agent-card.json`]) {
        const reply = await get(path)
        assert.equal(reply.status, 404, path)
        const { requestId: _, ...problem } = (await reply.json()) as Record<string, unknown>
        texts.add(`${path.slice(0, 5)} ${JSON.stringify(problem)}`)
      }
    assert.equal(texts.size, 2)
  })

  test('without a domain there is nothing, and no key is made', async () => {
    const bare = createRuntime()
    const none = appOf(bare, {})
    for (const path of [
      '/.well-known/webfinger?resource=acct:docs@example.com',
      '/.well-known/agent-card/docs',
      '/a2a/docs/.well-known/agent-card.json',
      '/.well-known/agent-card.json',
      '/.well-known/jwks.json',
      '/.well-known/did.json',
    ]) {
      const reply = await none.fetch(new Request(`${publicUrl}${path}`, { headers: { host: 'bots.example.com' } }))
      assert.equal(reply.status, 404, path)
    }
    await bare.close()
  })

  test('[D18] a Host that is not ours gets no card', async () => {
    for (const path of ['/.well-known/jwks.json', '/a2a/docs/.well-known/agent-card.json'])
      assert.equal((await get(path, { host: 'evil.test' })).status, 403)
  })
})
