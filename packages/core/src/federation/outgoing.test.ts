/** What a call to another server says of itself: its token, and the chain that it belongs to. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AgentChain } from '@witan/protocol/entries'
import { createLocalJWKSet, jwtVerify } from 'jose'
import { memoryStore } from '../store/drivers/memory.ts'
import type { Caller } from '../tool/tool.ts'
import { createCredentials } from './outgoing.ts'
import { createOwnKeys } from './own-keys.ts'

const store = memoryStore()
await store.open()
const keys = createOwnKeys(store)
const at = Date.UTC(2026, 0, 1)
const options = { keys, domainOf: () => 'a.test', maxHops: 4, now: () => at, variables: { TRAVEL: 'secret' } }
const sign = createCredentials(options)
const edge = {
  name: 'docs',
  address: '@docs@b.test',
  description: '',
  blocking: 'always',
  history: 'agent',
  pin: null,
} as const
const card = { ...edge, address: undefined, card: 'https://travel.test/card.json' }

function message(chain?: AgentChain, more: object = {}) {
  const principal = chain === undefined ? {} : { incoming: { chain } }
  const caller = { database: 'default', conversationId: 'chats/1', principal } as unknown as Caller
  const from = { id: 'desk', address: null }
  const all = { edge: { ...edge, mentionRelay: 'inline' as const }, from, database: 'default', caller }
  return sign({ ...all, messageId: 'c_1', contextId: null, ...more } as Parameters<typeof sign>[0])
}

async function claims(bearer: string | null) {
  const jwks = createLocalJWKSet({ keys: (await keys.list()).map(({ publicJwk }) => ({ ...publicJwk })) })
  return (await jwtVerify(bearer ?? '', jwks, { currentDate: new Date(at), algorithms: ['EdDSA'] })).payload
}

test('[M19] the first call is hop 1 of our ceiling, signed for one message to one agent', async () => {
  const { bearer, metadata, extensions } = await message()
  const { witan_chain: chain, ...rest } = await claims(bearer)
  assert.deepEqual(rest, {
    ...{ iss: 'https://a.test', sub: '@desk@a.test', aud: '@docs@b.test', jti: 'c_1' },
    ...{ iat: at / 1000, exp: at / 1000 + 300 },
  })
  const { root, ...way } = chain as { root: string }
  assert.deepEqual(way, { hop: 1, max_hops: 4, path: ['@desk@a.test'] })
  assert.match(root, /^[\w-]{43}$/)
  assert.deepEqual(metadata, {
    mentionable: {
      agent_chain: { hop: 1, max_hops: 4, is_final: false },
      recipient_capabilities: { mention_relay: { kind: 'inline' } },
    },
  })
  assert.deepEqual(extensions, ['https://mentionable.dev/ns/normalized-message/v0.1'])
})

test('[M19] [M27] in a chain it is one hop more, under the ceiling that holds, behind all before it', async () => {
  const { bearer, metadata } = await message({ hop: 2, maxHops: 3, root: 'r', path: ['@x@x.test', '@y@y.test'] })
  const chain = (await claims(bearer))['witan_chain']
  assert.deepEqual(chain, { hop: 3, max_hops: 3, root: 'r', path: ['@x@x.test', '@y@y.test', '@desk@a.test'] })
  const { agent_chain: said } = metadata['mentionable'] as { agent_chain: unknown }
  assert.deepEqual(said, { hop: 3, max_hops: 3, is_final: true })
})

test('a server that is known by its card gets what the environment has, and never a token of ours', async () => {
  const known = { ...card, mentionRelay: 'none', bearerEnv: 'TRAVEL' }
  assert.equal((await message(undefined, { edge: known })).bearer, 'secret')
  assert.equal((await message(undefined, { edge: { ...known, bearerEnv: 'MISSING' } })).bearer, null)
  assert.equal((await message(undefined, { edge: { ...known, bearerEnv: undefined } })).bearer, null)
})

test('an agent with an address calls as that', async () => {
  const { bearer } = await message(undefined, { from: { id: 'desk', address: '@front@a.test' } })
  assert.equal((await claims(bearer)).sub, '@front@a.test')
})
