/** The cards of remotes: which key has signed, which one counts, and how often they are fetched. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RemoteAgent } from '@witan/protocol/entries'
import { WitanError } from '@witan/protocol'
import { auditTable } from '../store/audit.ts'
import { keptKeyOf } from '../store/remote-keys.ts'
import { memoryStore } from '../store/drivers/memory.ts'
import { createOwnKeys, type OwnKey } from './own-keys.ts'
import { createCards } from './remote-cards.ts'
import { signedCard } from './sign.ts'

async function newKey(): Promise<OwnKey> {
  const store = memoryStore()
  await store.open()
  return (await createOwnKeys(store).list())[0] as OwnKey
}
const [first, second, third] = [await newKey(), await newKey(), await newKey()]
const url = 'https://travel.test/card.json'
const edge = { name: 'travel', card: url, pin: null } as unknown as RemoteAgent
const plain = {
  name: 'Travel',
  supportedInterfaces: [
    { url: 'https://travel.test/a2a', protocolBinding: 'HTTP+JSON', protocolVersion: '1.0', tenant: 't' },
  ],
  capabilities: { streaming: true, extensions: [{ uri: 'https://witan.dev/ns/a2a/idempotent/v1' }] },
}

async function staged() {
  const store = memoryStore()
  await store.open()
  const state = { now: 0, signers: [] as readonly OwnKey[], isDown: false, asked: 0 }
  const find = createCards({
    store,
    now: () => state.now,
    maySend: () => true,
    fetch: {
      async json(at) {
        if (state.isDown) throw new WitanError('REMOTE_UNREACHABLE', 'down')
        if (at !== url) return { url: at, value: { keys: [first, second, third].map(({ publicJwk }) => publicJwk) } }
        state.asked += 1
        const value = state.signers.length === 0 ? plain : await signedCard(plain, state.signers, 'https://x.test')
        return { url: at, value }
      },
    },
  })
  const look = async (signers: readonly OwnKey[], of = edge) => {
    state.now += 600_000
    state.signers = signers
    const found = await find(of, 'default', new AbortController().signal)
    return found.ok ? (found.notice?.code ?? 'found') : found.code
  }
  return { store, state, find, look, kept: () => keptKeyOf(store, 'default', url) }
}

test('a card says where its agent answers, and what its server does', async () => {
  const { find } = await staged()
  const found = await find(edge, 'default', new AbortController().signal)
  assert.deepEqual(found.ok && found.endpoint, {
    ...{ url: 'https://travel.test/a2a', binding: 'HTTP+JSON', tenant: 't' },
    ...{ isStreaming: true, isIdempotent: true },
  })
})

test('[Mb14] the key that signed first is kept, and only a card that it has signed too brings another', async () => {
  const { look, kept, store } = await staged()
  assert.equal(await look([]), 'REMOTE_UNSIGNED')
  assert.equal(await kept(), null)
  assert.equal(await look([first]), 'found')
  assert.equal(await kept(), first.kid)
  assert.equal(await look([second]), 'REMOTE_KEY_CHANGED')
  assert.equal(await look([]), 'REMOTE_KEY_CHANGED')
  assert.equal(await kept(), first.kid)
  assert.equal(await look([second, first]), 'found')
  assert.equal(await kept(), second.kid)
  assert.equal(await look([second]), 'found')
  assert.equal(await look([first]), 'REMOTE_KEY_CHANGED')
  const records = await store.listRecords('default', auditTable, { limit: 9, after: null })
  assert.deepEqual(
    records.map(({ kind, name, action, via }) => [kind, name, action, via]),
    ['change', 'create'].map((action) => ['remote-key', url, action, 'code']),
  )
})

test('[Mb14] a key that is pinned must have signed, whatever was kept', async () => {
  const { look } = await staged()
  const pinned = { ...edge, pin: third.kid }
  assert.equal(await look([first], pinned), 'REMOTE_KEY_CHANGED')
  assert.equal(await look([third], pinned), 'found')
  assert.equal(await look([first, third], pinned), 'found')
  assert.equal(await look([], pinned), 'REMOTE_KEY_CHANGED')
})

test('a card counts for five minutes, is asked for once at a time, and not kept where it could not be had', async () => {
  const { state, find } = await staged()
  const signal = new AbortController().signal
  await Promise.all([find(edge, 'default', signal), find(edge, 'other', signal)])
  state.now += 299_000
  await find(edge, 'default', signal)
  assert.equal(state.asked, 1)
  state.now += 2_000
  state.isDown = true
  const down = await find(edge, 'default', signal)
  assert.equal(down.ok ? null : down.code, 'REMOTE_UNREACHABLE')
  state.isDown = false
  assert.equal((await find(edge, 'default', signal)).ok, true)
  assert.equal(state.asked, 2)
})
