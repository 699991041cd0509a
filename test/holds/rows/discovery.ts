/** The documents by which an agent elsewhere is found, and the keys and tokens of a caller from elsewhere: as large and deep as they may be, and larger. */
import { sign } from 'node:crypto'
import { createOwnKeys, signedCard } from '@witan/core/tooling'
import { memoryStore } from '@witan/core'
import { loadConfig, startServer } from '@witan/server'
import { good, type Json, jwkOf } from '../../support/evidence.ts'
import type { Script } from '../support/outside.ts'
import type { Play, Row } from '../support/row.ts'
import { run, saying } from '../support/said.ts'

/** What is read of a document at most, in bytes. */
const most = 65_536

type Documents = Readonly<Record<'finger' | 'card' | 'a2a' | 'keys', Json>>

const paths = {
  finger: '/.well-known/webfinger',
  card: '/card',
  a2a: '/a2a/.well-known/agent-card.json',
  keys: '/.well-known/jwks.json',
} as const

const documents: Documents = {
  finger: {
    subject: 'acct:docs@b.test',
    links: [{ rel: 'https://mentionable.dev/ns/rel/agent-card', href: 'https://b.test/card' }],
  },
  card: { address: '@docs@b.test', name: 'Docs', a2a: { endpoint: 'https://b.test/a2a' } },
  a2a: {
    name: 'Docs',
    supportedInterfaces: [{ url: 'https://b.test/a2a', protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
    capabilities: {},
  },
  keys: { keys: [jwkOf(good.publicKey, 'k1')] },
}

/** A document that is filled with a piece up to the limit, or to so many bytes. */
function filled([before, piece, after]: readonly [string, string, string], bytes: number = most - 100): Script {
  return { head: before, piece, times: Math.floor((bytes - before.length - after.length) / piece.length), tail: after }
}
/** Names that are all different, as members of an object. */
const names = (bytes: number) => {
  const all: string[] = []
  for (let [length, at] = [0, 0]; length < bytes; at += 1) {
    const one = `"k${at}":0,`
    length += one.length
    all.push(one)
  }
  return all.join('')
}
const open = (document: Json) => `${JSON.stringify(document).slice(0, -1)},`
const lastKey = JSON.stringify(jwkOf(good.publicKey, 'k1'))

/** What stands in place of one of the documents. */
const wrong: Readonly<Record<string, Partial<Record<keyof typeof paths, Script>>>> = {
  'a WebFinger of 64 kB of brackets': { finger: filled(['', '[', '']) },
  'a WebFinger of 3,000 links': {
    finger: filled(['{"subject":"acct:docs@b.test","links":[', '{"rel":"x","href":""},', '{}]}']),
  },
  'a WebFinger for another one, in 64 kB': { finger: filled(['{"subject":"acct:', 'docs@', 'b.test"}']) },
  'a WebFinger of 30 MB': { finger: filled(['{"subject":"', 'a b ', '"}'], 30_000_000) },
  'a card of 65 kB': { card: filled(['{"address":"@docs@b.test","name":"', 'a b ', '"}'], 66_000) },
  'a card with a name of 64 kB': {
    card: filled(['{"address":"@docs@b.test","a2a":{"endpoint":"https://b.test/a2a"},"name":"', 'a b ', '"}']),
  },
  'a card with an endpoint of 64 kB of slashes': {
    card: filled(['{"address":"@docs@b.test","a2a":{"endpoint":"https://b.test/', '/', 'x"}}']),
  },
  'a card with an address of 64 kB': { card: filled(['{"address":"', '@docs', '@b.test"}']) },
  'an A2A card of 20,000 interfaces': { a2a: filled(['{"supportedInterfaces":[', '{},', '{}]}']) },
  'an A2A card of 1,500 versions': {
    a2a: filled(['{"supportedInterfaces":[', '{"protocolVersion":"9.9.9.9-9.9.9"},', '{}]}']),
  },
  'an A2A card of 7,000 names': { a2a: { head: `${open(documents.a2a)}${names(60_000)}"z":0}` } },
  'an A2A card of 7,000 names, with a signature': {
    a2a: {
      head: `${open(documents.a2a)}${names(60_000)}"signatures":[{"protected":"eyJhbGciOiJFZERTQSIsImtpZCI6ImsxIn0","signature":"AA"}]}`,
    },
  },
  'an A2A card that nests 60 times, with a signature': {
    a2a: {
      head: `${open(documents.a2a)}"a":${'{"a":[1,'.repeat(30)}1${']}'.repeat(30)},"signatures":[{"protected":"e30","signature":""}]}`,
    },
  },
  'an A2A card of 3,000 signatures': {
    a2a: filled([`${open(documents.a2a)}"signatures":[`, '{"protected":"e30"},', '{}]}']),
  },
  'an A2A card with a protected header of 60 kB': {
    a2a: filled([`${open(documents.a2a)}"signatures":[{"signature":"","protected":"`, 'eyJh', '"}]}']),
  },
  '20,000 keys': { keys: filled(['{"keys":[', '{},', '{}]}']) },
  '64 kB of brackets as keys': { keys: filled(['', '[', '']) },
  'a key of 60 kB': { keys: filled(['{"keys":[{"kty":"OKP","crv":"Ed25519","kid":"k1","x":"', 'AAAA', '"}]}']) },
}

const remote = { name: 'docs', address: '@docs@b.test', description: 'Knows.' }

async function serveDocuments(play: Play, changed: Partial<Record<keyof typeof paths, Script>>): Promise<string> {
  const all = Object.entries(paths).map(([name, path]): [string, Script] => {
    const given = changed[name as keyof typeof paths]
    return [path, given ?? { head: JSON.stringify(documents[name as keyof typeof paths]) }]
  })
  const task = { id: 't', contextId: 'c', status: { state: 'TASK_STATE_COMPLETED' } }
  const answer = JSON.stringify({ jsonrpc: '2.0', id: 1, result: { task } })
  return play.outside.serve({ ...Object.fromEntries(all), '/a2a': { head: answer } })
}

function finding(name: string, changed: (play: Play) => Promise<Partial<Record<keyof typeof paths, Script>>>): Row {
  return {
    name: `an agent elsewhere is found by ${name}`,
    setUp: async (play) => {
      const url = await serveDocuments(play, await changed(play))
      return run(play, {
        script: (step) =>
          step === 0 ? { calls: [{ name: 'docs', arguments: '{"message":"Find it."}' }] } : { text: 'Done.' },
        agent: { remotes: [remote] },
        options: { domains: { 'a.test': 'default' }, federation: { resolve: { 'b.test': url } } },
      })
    },
  }
}

/** As many good signatures as are read, of a card as long as may be, with as many keys as a set may have. */
async function wellSigned(): Promise<Partial<Record<keyof typeof paths, Script>>> {
  const store = memoryStore()
  await store.open()
  const [key] = await createOwnKeys(store).list()
  await store.close()
  if (key === undefined) throw new Error('a store makes a key')
  const card = { ...documents.a2a, ...JSON.parse(`{${names(50_000)}"z":0}`) }
  const signed = await signedCard(card, Array(16).fill(key), 'https://b.test/.well-known/jwks.json')
  const others = Array.from({ length: 99 }, (_, at) => ({ ...jwkOf(good.publicKey, `k${at}`) }))
  return {
    a2a: { head: JSON.stringify(signed) },
    keys: { head: JSON.stringify({ keys: [...others, key.publicJwk] }) },
  }
}

const found: readonly Row[] = [
  ...Object.entries(wrong).map(([name, changed]) => finding(name, async () => changed)),
  finding('a card with 16 good signatures and 100 keys', wellSigned),
]

const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')

function token(claims: Json): string {
  const now = Math.floor(Date.now() / 1000)
  const standard = { iss: 'https://a.test', sub: '@a@a.test', aud: '@root@bots.example', iat: now, exp: now + 300 }
  const text = `${encoded({ alg: 'EdDSA', kid: 'k1' })}.${encoded({ ...standard, jti: 'm', ...claims })}`
  return `${text}.${sign(null, Buffer.from(text), good.privateKey).toString('base64url')}`
}

interface Presented {
  readonly status: number
  readonly token: () => string
  readonly keys?: Script
}
const path = (length: number) => Array.from({ length }, (_, at) => `@p${at}@p.test`)
const chain = (more: Json) => ({ witan_chain: { hop: 1, max_hops: 4, root: 'r', ...more } })

/** Tokens as long as a header may be, and key sets of their issuer. */
const presented: Readonly<Record<string, Presented>> = {
  'a path of 600 addresses': { status: 200, token: () => token(chain({ path: path(600) })) },
  'a path of 64 addresses, of which one is ours': {
    ...{ status: 200, token: () => token(chain({ path: [...path(63), '@root@bots.example'] })) },
  },
  'a path of 1,500 addresses, which no header takes': {
    ...{ status: 431, token: () => token(chain({ path: path(1_500) })) },
  },
  'a path of 4,000 numbers': { status: 200, token: () => token(chain({ path: Array(4_000).fill(0) })) },
  'a chain with a root of 8 kB': { status: 200, token: () => token(chain({ root: 'r'.repeat(8_000), path: [] })) },
  'a claim that nests 2,000 times': {
    status: 401,
    token: () => `e30.${Buffer.from('['.repeat(8_000)).toString('base64url')}.AA`,
  },
  'a token of 15 kB of dots': { status: 401, token: () => '.'.repeat(15_000) },
  'a token of 15 kB of letters': { status: 401, token: () => 'eyJh'.repeat(3_700) },
  'keys of 64 kB of brackets': { status: 401, token: () => token({}), keys: filled(['', '[', '']) },
  'a set of 100 keys': {
    status: 200,
    token: () => token({}),
    keys: {
      head: JSON.stringify({
        keys: [...Array.from({ length: 99 }, (_, at) => jwkOf(good.publicKey, `o${at}`)), JSON.parse(lastKey)],
      }),
    },
  },
  'a set of 20,000 keys': { status: 401, token: () => token({}), keys: filled(['{"keys":[', '{},', `${lastKey}]}`]) },
  'a set of 30 MB': {
    status: 401,
    token: () => token({}),
    keys: filled(['{"keys":["', 'a b ', `",${lastKey}]}`], 30_000_000),
  },
}

function calling(name: string, { status, token: make, keys }: Presented): Row {
  return {
    name: `a caller from elsewhere brings ${name}`,
    setUp: async (play) => {
      const given = keys ?? { head: JSON.stringify(documents.keys) }
      const issuer = await play.outside.serve({ [paths.keys]: given })
      const config = await loadConfig({ cwd: '/', env: { WITAN_LOG_LEVEL: 'silent', WITAN_STORE_URL: 'memory:' } })
      const root = { id: 'root', model: 'play/root', instructions: 'You do it.', address: 'root' }
      const server = await startServer({
        ...config,
        auth: { mode: 'none' },
        agents: [{ ...root, access: { call: ['@*'] } }],
        models: { 'play/root': saying('play/root', () => ({ text: 'Done.' })) },
        server: { ...config.server, port: 0, domain: 'bots.example' },
        federation: { ...config.federation, resolve: { 'a.test': issuer } },
      })
      play.after(() => server.close())
      const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'x' }] }
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message } })
      const headers = { authorization: `Bearer ${make()}` }
      return () =>
        play.outside.send({ url: `${server.url}/a2a/root?A2A-Version=1.0`, status, method: 'POST', headers, body })
    },
  }
}

export const discovery: readonly Row[] = [
  ...found,
  ...Object.entries(presented).map(([name, one]) => calling(name, one)),
]
