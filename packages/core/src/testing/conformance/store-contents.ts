/** Conformance of stores: content by digest, which goes with the last conversation that refers to it [Rb53]. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { isWitanError } from '@witan/protocol'
import type { ConversationSnapshot, Store } from '../../store/store.ts'
import type { StoredContent } from '../../store/stored-content.ts'
import { assertRefused, type Check, type CheckTwo, conversation, database, entry, past } from './store-fixtures.ts'

const other = 'other'

/** Content of some bytes, whose text depends on `seed`. */
function contentOf(seed: string, size = 10): StoredContent {
  const bytes = new Uint8Array(size).map((_, index) => (seed.charCodeAt(index % seed.length) * 31 + index) % 256)
  const digest = `sha256:${createHash('sha256').update(bytes).digest('hex')}`
  return { digest, mediaType: 'image/png', name: `${seed} ☔.png`, bytes }
}

/** Creates a conversation, or appends to it, with content that was put before. */
async function attach(store: Store, id: string, given: { contents: readonly StoredContent[]; at?: string }) {
  const { contents, at = database } = given
  for (const { digest, bytes } of contents) await store.putContent(at, digest, bytes)
  return refer(store, id, { contents, at })
}

async function refer(store: Store, id: string, given: { contents: readonly StoredContent[]; at?: string }) {
  const { contents, at = database } = given
  const exists = (await store.getConversation(at, id)) !== null
  const create = exists ? {} : { create: conversation(id, { database: at }) }
  const uses = contents.map(({ bytes: _, ...use }) => use)
  return store.append({ database: at, conversation: id, ...create, entries: [message(contents)], contents: uses })
}

function message(contents: readonly StoredContent[]) {
  const files = contents.map(({ bytes, ...use }) => ({ ...use, bytes: bytes.byteLength }))
  return { ...entry('look'), type: 'message', kind: null, body: { author: 'user', text: 'look', files } } as const
}

/** Content in short: a failed comparison of many bytes would take minutes to print. */
function brief(content: StoredContent | null | undefined) {
  if (content === null || content === undefined) return null
  const { mediaType, name, bytes } = content
  return { mediaType, name, size: bytes.byteLength, bytes: createHash('sha256').update(bytes).digest('hex') }
}

async function read(store: Store, id: string, of: { readonly digest: string; readonly at?: string }) {
  const { digest, at = database } = of
  const content = await store.readContent(at, id, digest)
  if (content !== null) assert.equal(content.digest, digest)
  return brief(content)
}

async function snapshotOf(store: Store, id: string, at = database): Promise<ConversationSnapshot> {
  return (await store.readSnapshot(at, id)) ?? assert.fail(`there is no ${id}`)
}

/** Registers the tests of content. */
export function checkContents(check: Check): void {
  check('content is read by the conversations that refer to it, and by no other one', async (store) => {
    const [small, large] = [contentOf('a'), contentOf('b', 2_500_000)]
    assert.ok((await attach(store, 'chats/1', { contents: [small, large] })).ok)
    assert.deepEqual(await read(store, 'chats/1', { digest: small.digest }), brief(small))
    assert.deepEqual(await read(store, 'chats/1', { digest: large.digest }), brief(large))
    await attach(store, 'chats/2', { contents: [] })
    assert.equal(await read(store, 'chats/2', { digest: small.digest }), null)
    assert.equal(await read(store, 'chats/1', { digest: small.digest, at: other }), null)
    assert.equal(await store.readContent(database, 'chats/1', contentOf('none').digest), null)
  })

  check('bytes that a caller changes later change nothing in the store', async (store) => {
    const content = contentOf('a')
    const given = content.bytes.slice()
    await store.putContent(database, content.digest, given)
    given.fill(0)
    await refer(store, 'chats/1', { contents: [content] })
    const found = await store.readContent(database, 'chats/1', content.digest)
    found?.bytes.fill(0)
    assert.deepEqual(await read(store, 'chats/1', { digest: content.digest }), brief(content))
  })

  check(
    'an append that refers to content which the store does not have is refused, and stores nothing',
    async (store) => {
      const content = contentOf('a')
      await attach(store, 'chats/1', { contents: [] })
      await store.putContent(other, content.digest, content.bytes)
      assertRefused(await refer(store, 'chats/1', { contents: [content] }), 'contentless')
      assertRefused(await refer(store, 'chats/new', { contents: [content] }), 'contentless')
      assert.equal((await store.getConversation(database, 'chats/1'))?.lastSeq, 1)
      assert.equal(await store.getConversation(database, 'chats/new'), null)
    },
  )

  check('the name and media type of a conversation’s first reference stay', async (store) => {
    const content = contentOf('a')
    await attach(store, 'chats/1', { contents: [content, { ...content, name: 'other.html', mediaType: 'text/html' }] })
    await attach(store, 'chats/1', { contents: [{ ...content, name: null, mediaType: 'text/plain' }] })
    assert.deepEqual(await read(store, 'chats/1', { digest: content.digest }), brief(content))
    await attach(store, 'chats/2', { contents: [{ ...content, name: null, mediaType: 'text/plain' }] })
    const found = await read(store, 'chats/2', { digest: content.digest })
    assert.deepEqual([found?.name, found?.mediaType], [null, 'text/plain'])
  })
  checkEnd(check)
  checkMove(check)
}

function checkEnd(check: Check): void {
  check('shared content goes with the last conversation that refers to it', async (store) => {
    const [shared, own] = [contentOf('shared', 1_200_000), contentOf('own')]
    await attach(store, 'chats/1', { contents: [shared, own] })
    await refer(store, 'chats/2', { contents: [shared] })
    assert.equal(await store.deleteConversation(database, 'chats/1'), true)
    assert.equal(await read(store, 'chats/1', { digest: shared.digest }), null)
    assert.deepEqual(await read(store, 'chats/2', { digest: shared.digest }), brief(shared))
    assertRefused(await refer(store, 'chats/3', { contents: [own] }), 'contentless')
    assert.equal(await store.deleteConversation(database, 'chats/2'), true)
    assertRefused(await refer(store, 'chats/3', { contents: [shared] }), 'contentless')
    assert.ok((await attach(store, 'chats/3', { contents: [shared] })).ok)
    assert.deepEqual(await read(store, 'chats/3', { digest: shared.digest }), brief(shared))
  })

  check('content of a conversation in another database stays', async (store) => {
    const content = contentOf('a')
    await attach(store, 'chats/1', { contents: [content] })
    await attach(store, 'chats/1', { contents: [content], at: other })
    await store.deleteConversation(database, 'chats/1')
    assert.deepEqual(await read(store, 'chats/1', { digest: content.digest, at: other }), brief(content))
  })

  check('content expires with its conversation', async (store) => {
    const content = contentOf('a', 1_100_000)
    const uses = [{ digest: content.digest, mediaType: content.mediaType, name: content.name }]
    await store.putContent(database, content.digest, content.bytes)
    const create = conversation('chats/1', { expiresAt: past })
    const append = { database, conversation: 'chats/1', create, entries: [message([content])], contents: uses }
    assert.ok((await store.append(append)).ok)
    assert.equal(await read(store, 'chats/1', { digest: content.digest }), null)
    assert.equal((await store.sweepConversations(10)).length, 1)
    assertRefused(await refer(store, 'chats/2', { contents: [content] }), 'contentless')
  })

  check('a conversation in place of an expired one may refer to the same content', async (store) => {
    const [again, gone] = [contentOf('again'), contentOf('gone')]
    for (const { digest, bytes } of [again, gone]) await store.putContent(database, digest, bytes)
    const create = conversation('chats/1', { expiresAt: past })
    const contents = [again, gone].map(({ bytes: _, ...use }) => use)
    const entries = [message([again, gone])]
    assert.ok((await store.append({ database, conversation: 'chats/1', create, entries, contents })).ok)
    assert.ok((await attach(store, 'chats/1', { contents: [again] })).ok)
    assert.deepEqual(await read(store, 'chats/1', { digest: again.digest }), brief(again))
    assert.equal(await read(store, 'chats/1', { digest: gone.digest }), null)
  })

  check('content that is put again while conversations come and go is never lost', async (store) => {
    const content = contentOf('a', 1_300_000)
    const talk = async (id: string) => {
      for (let turn = 0; turn < 5; turn += 1) {
        const result = await attach(store, id, { contents: [content] })
        if (result.ok) assert.deepEqual(await read(store, id, { digest: content.digest }), brief(content))
        else assert.equal(result.reason, 'contentless')
        await store.deleteConversation(database, id)
      }
    }
    await Promise.all(['chats/1', 'chats/2', 'chats/3'].map(talk))
    assertRefused(await refer(store, 'chats/4', { contents: [content] }), 'contentless')
  })
}

function checkMove(check: Check): void {
  check('a snapshot has the content of its conversation, sorted by digest, and arrives with it', async (store) => {
    const contents = ['c', 'a', 'b'].map((seed) => contentOf(seed, 1_100_000))
    await attach(store, 'chats/1', { contents })
    const snapshot = structuredClone(await snapshotOf(store, 'chats/1'))
    const sorted = contents.toSorted((one, another) => (one.digest < another.digest ? -1 : 1))
    assert.deepEqual(snapshot.contents?.map(brief), sorted.map(brief))
    assert.equal(await store.putSnapshot(other, snapshot), true)
    assert.deepEqual((await snapshotOf(store, 'chats/1', other)).contents?.map(brief), sorted.map(brief))
    await store.deleteConversation(database, 'chats/1')
    assert.deepEqual(await read(store, 'chats/1', { digest: sorted[0]?.digest ?? '', at: other }), brief(sorted[0]))
    await attach(store, 'chats/plain', { contents: [] })
    assert.equal('contents' in (await snapshotOf(store, 'chats/plain')), false)
  })

  check('a snapshot with wrong or missing content is refused, and stores nothing', async (store) => {
    const content = contentOf('a')
    await attach(store, 'chats/1', { contents: [content] })
    const snapshot = structuredClone(await snapshotOf(store, 'chats/1'))
    const { contents: _, ...bare } = snapshot
    const changed = { ...content, bytes: content.bytes.map((byte) => byte ^ 1) }
    for (const wrong of [bare, { ...snapshot, contents: [changed] }, { ...snapshot, contents: [content, content] }]) {
      const isBroken = (error: unknown) => isWitanError(error) && error.code === 'BODY_INVALID'
      await assert.rejects(store.putSnapshot(other, wrong), isBroken)
    }
    assert.deepEqual(await store.listDatabases(), [database])
  })
}

/** Registers the tests of content on two stores with the same data. */
export function checkSharedContents(checkTwo: CheckTwo): void {
  checkTwo('content that one store has stored is referred to and read through the other', async (first, second) => {
    const content = contentOf('a', 1_500_000)
    await first.putContent(database, content.digest, content.bytes)
    assert.ok((await refer(second, 'chats/1', { contents: [content] })).ok)
    assert.deepEqual(await read(first, 'chats/1', { digest: content.digest }), brief(content))
    const refers = [first, second].map((store, index) => refer(store, `chats/${index + 2}`, { contents: [content] }))
    const results = await Promise.all([...refers, first.deleteConversation(database, 'chats/1')])
    for (const [index, result] of results.slice(0, 2).entries()) {
      const found = await read(second, `chats/${index + 2}`, { digest: content.digest })
      assert.deepEqual(found, typeof result === 'object' && result.ok ? brief(content) : null)
    }
  })
}
