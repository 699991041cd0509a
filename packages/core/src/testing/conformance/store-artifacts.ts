/** Conformance of stores: the index of artifacts, which follows the log in the same append [T31]. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { isWitanError } from '@witan/protocol'
import type { Entry } from '@witan/protocol/entries'
import type { ArtifactEntry, ArtifactPage } from '../../store/artifact-records.ts'
import type { Store } from '../../store/store.ts'
import { assertRefused, type Check, type CheckTwo, conversation, database, entry, past } from './store-fixtures.ts'

const bytes = Buffer.from('made by an agent')
const digest = `sha256:${createHash('sha256').update(bytes).digest('hex')}`
const all: ArtifactPage = { limit: 100, after: null, run: null, agent: null }

/** An id as the runtime makes it: the word, filled up. */
const idOf = (word: string) => `art_${word.padEnd(26, '0')}`

function artifact(word: string, { run = 'r1', agent = 'clerk' } = {}): ArtifactEntry {
  const from = entry('')
  const body = {
    id: idOf(word),
    name: `${word} ☔.md`,
    mediaType: 'text/markdown',
    bytes: 16,
    digest,
    inputs: [idOf('a')],
  }
  return { ...from, type: 'artifact', kind: null, body, place: { ...from.place, run, author: agent } }
}

/** Appends entries, creating the conversation if it is not there. */
async function append(store: Store, id: string, given: { entries: readonly Entry[]; at?: string; createdAt?: number }) {
  const { entries, at = database, createdAt = 1 } = given
  await store.putContent(at, digest, bytes)
  const exists = (await store.getConversation(at, id)) !== null
  const create = exists ? {} : { create: conversation(id, { database: at, createdAt }) }
  const contents = [{ digest, mediaType: 'text/markdown', name: null }]
  return store.append({ database: at, conversation: id, ...create, entries, contents })
}

const wordsIn = async (store: Store, id: string, page: Partial<ArtifactPage> = {}) =>
  (await store.listArtifacts(database, id, { ...all, ...page })).map(({ body }) => body.id)
const placesOf = async (store: Store, word: string, at = database) =>
  (await store.findArtifact(at, idOf(word))).map((one) => one.conversation)

/** Registers the tests of the index of artifacts. */
export function checkArtifacts(check: Check): void {
  check('artifacts are found by id and listed in the order of the log, as they were stored', async (store) => {
    const made = [artifact('a'), artifact('b', { run: 'r2' }), artifact('c', { run: 'r2', agent: 'mate' })]
    assert.ok((await append(store, 'chats/1', { entries: [entry('x'), made[0] as Entry, entry('y')] })).ok)
    assert.ok((await append(store, 'chats/1', { entries: made.slice(1) })).ok)
    const listed = await store.listArtifacts(database, 'chats/1', all)
    assert.deepEqual(
      listed.map(({ seq, body, place }) => [seq, body, place.run, place.author]),
      made.map(({ body, place }, index) => [[2, 4, 5][index], body, place.run, place.author]),
    )
    const [found] = await store.findArtifact(database, idOf('b'))
    assert.deepEqual([found?.conversation, found?.entry.seq, found?.entry.body], ['chats/1', 4, made[1]?.body])
    assert.deepEqual(await wordsIn(store, 'chats/1', { run: 'r2' }), [idOf('b'), idOf('c')])
    assert.deepEqual(await wordsIn(store, 'chats/1', { run: 'r2', agent: 'clerk' }), [idOf('b')])
    assert.deepEqual(await wordsIn(store, 'chats/1', { agent: 'nobody' }), [])
    assert.deepEqual(await wordsIn(store, 'chats/1', { limit: 2 }), [idOf('a'), idOf('b')])
    assert.deepEqual(await wordsIn(store, 'chats/1', { after: idOf('b') }), [idOf('c')])
    await assert.rejects(
      wordsIn(store, 'chats/1', { after: idOf('none') }),
      (error) => isWitanError(error) && error.code === 'BODY_INVALID',
    )
  })

  check('no artifact is found from another database or conversation', async (store) => {
    await append(store, 'chats/1', { entries: [artifact('a')] })
    await append(store, 'chats/2', { entries: [entry('x')] })
    assert.deepEqual(await wordsIn(store, 'chats/2'), [])
    assert.deepEqual(await placesOf(store, 'a', 'other'), [])
    assert.deepEqual(await store.listArtifacts('other', 'chats/1', all), [])
    assert.deepEqual(await placesOf(store, 'none'), [])
    assert.deepEqual(await wordsIn(store, 'chats/none'), [])
  })

  check('a refused append leaves no artifact', async (store) => {
    await append(store, 'chats/1', { entries: [entry('x')] })
    const fence = { job: 'none', epoch: 1 }
    assertRefused(await store.append({ database, conversation: 'chats/1', fence, entries: [artifact('a')] }), 'fenced')
    assert.deepEqual([await placesOf(store, 'a'), await wordsIn(store, 'chats/1')], [[], []])
  })

  checkArtifactEnds(check)
}

function checkArtifactEnds(check: Check): void {
  check('the same artifact in several conversations is found in the oldest first', async (store) => {
    await append(store, 'chats/fork', { entries: [artifact('a')], createdAt: 9 })
    await append(store, 'chats/1', { entries: [artifact('a')], createdAt: 1 })
    assert.deepEqual(await placesOf(store, 'a'), ['chats/1', 'chats/fork'])
    await store.deleteConversation(database, 'chats/1')
    assert.deepEqual(await placesOf(store, 'a'), ['chats/fork'])
    assert.deepEqual(await wordsIn(store, 'chats/1'), [])
    await append(store, 'chats/1', { entries: [entry('again')] })
    assert.deepEqual(await wordsIn(store, 'chats/1'), [], 'a conversation of that id begins with nothing')
  })

  check('artifacts expire with their conversation', async (store) => {
    await append(store, 'chats/1', { entries: [artifact('a')] })
    const expiresAt = past
    await store.putContent(database, digest, bytes)
    const create = conversation('chats/over', { expiresAt })
    await store.append({ database, conversation: 'chats/over', create, entries: [artifact('b')] })
    assert.deepEqual([await placesOf(store, 'b'), await wordsIn(store, 'chats/over')], [[], []])
    await store.sweepConversations(10)
    assert.deepEqual([await placesOf(store, 'a'), await placesOf(store, 'b')], [['chats/1'], []])
  })

  check(
    'an imported conversation brings its artifacts; one with missing content or two of one id is refused',
    async (store) => {
      await append(store, 'chats/1', { entries: [entry('x'), artifact('a')] })
      const snapshot = (await store.readSnapshot(database, 'chats/1')) ?? assert.fail('it is there')
      assert.equal(await store.putSnapshot('other', snapshot), true)
      assert.deepEqual(await placesOf(store, 'a', 'other'), ['chats/1'])
      assert.equal((await store.listArtifacts('other', 'chats/1', all))[0]?.seq, 2)
      const content = await store.readContent('other', 'chats/1', digest)
      assert.deepEqual(Buffer.from(content?.bytes ?? []), bytes)
      const { contents: _, ...bare } = snapshot
      const [first, second] = snapshot.entries as [Entry, Entry]
      const twice = {
        ...snapshot,
        row: { ...snapshot.row, lastSeq: 3 },
        entries: [first, second, { ...second, seq: 3 }],
      }
      for (const wrong of [bare, twice])
        await assert.rejects(
          store.putSnapshot('third', wrong),
          (error) => isWitanError(error) && error.code === 'BODY_INVALID',
        )
      assert.deepEqual(await placesOf(store, 'a', 'third'), [])
    },
  )
}

/** Registers the test of two stores on the same data. */
export function checkSharedArtifacts(check: CheckTwo): void {
  check('an artifact that one store has stored is found through the other', async (first, second) => {
    await append(first, 'chats/1', { entries: [artifact('a')] })
    assert.deepEqual(await placesOf(second, 'a'), ['chats/1'])
    assert.deepEqual(await wordsIn(second, 'chats/1'), [idOf('a')])
  })
}
