/** What a killed process ingests, and what stands afterwards. */
import assert from 'node:assert/strict'
import type { Store } from '@witan/core'

const [database, base] = ['default', 'handbook']
const scopes = [{ base, filter: [] }]
const count = 60

interface Written {
  readonly key: string
  readonly passages: readonly string[]
}

const long = (word: string) =>
  Array.from(
    { length: count },
    (_, at) => `${word} ${Array.from({ length: 250 }, (__, index) => `w${(index * 7 + at) % 900}`).join(' ')}`,
  )
const before: readonly Written[] = [
  { key: 'a', passages: long('old') },
  { key: 'b', passages: ['old'] },
]
const after: readonly Written[] = [
  { key: 'a', passages: long('fresh') },
  { key: 'c', passages: ['fresh'] },
]

async function begin(store: Store, documents: readonly Written[], { id, prune }: { id: string; prune: string | null }) {
  const pending = documents.map(({ key, passages }) => {
    const content = passages.join('\n')
    return {
      key,
      title: null,
      uri: null,
      mediaType: 'text/plain',
      content,
      attributes: {},
      digest: content.slice(0, 9),
    }
  })
  await store.knowledge.beginIngest(database, { base, id, at: 1, prune, failed: [], pending })
}

/** Ends all that waits, as its content says. */
export async function finish({ knowledge }: Store): Promise<void> {
  await knowledge.releaseDocuments('worker')
  for (;;) {
    const held = await knowledge.claimDocuments({ owner: 'worker', leaseMs: 60_000, limit: 9 })
    if (held.length === 0) return
    for (const one of held) {
      const texts = (one.content as string).split('\n')
      const passages = texts.map((text, place) => ({ place, heading: '', text, words: text.split(' ') }))
      const blocks = texts.map((text) => ({ kind: 'paragraph', text }) as const)
      const { key: title, mediaType, attributes, digest } = one
      const form = { title, uri: null, mediaType, attributes, digest, blocks, passages, vectors: null, reading: 'r' }
      assert.ok(await knowledge.endDocument('worker', one, { kind: 'stored', form, at: 1 }))
    }
  }
}

/** The state before. */
export async function prepare(store: Store, id: string): Promise<void> {
  await store.knowledge.deleteKnowledge(database, base)
  await begin(store, before, { id, prune: null })
  await finish(store)
}

/** Begins what may be killed. */
export async function ingest(store: Store): Promise<void> {
  await begin(store, after, { id: 'next', prune: '' })
}

/** Asserts that each document is whole, old or new, brings the ingest to its end, and asserts what stands then. */
export async function assertWhole(store: Store): Promise<string> {
  const { knowledge } = store
  const places = async (word: string) => {
    const found = await knowledge.rankByWords({ database, scopes, words: [word], limit: 1_000 })
    return found.map(({ document, place }) => `${document}/${place}`).sort()
  }
  const all = (key: string) => Array.from({ length: count }, (_, at) => `${key}/${at}`)
  const [old, fresh] = [await places('old'), await places('fresh')]
  const isChanged = fresh.includes('a/0')
  const own = (list: readonly string[], key: string) => list.filter((one) => one.startsWith(key))
  assert.deepEqual(
    [own(old, 'a'), own(fresh, 'a')].map((list) => list.length),
    isChanged ? [0, count] : [count, 0],
  )
  const ingested = await knowledge.readIngest(database, base, 'next')
  const isDone = ingested?.endedAt !== null && ingested !== null
  assert.deepEqual(own(old, 'b'), isDone ? [] : ['b/0'], 'b goes with the end of the ingest')
  const counted = await knowledge.countKnowledge(database, base)
  assert.equal(counted.passages, old.length + fresh.length)
  if (ingested === null) await ingest(store)
  await finish(store)
  const { endedAt, ...ended } = (await knowledge.readIngest(database, base, 'next')) ?? assert.fail()
  assert.ok(endedAt !== null)
  const { total, added, changed, deleted } = ended
  assert.deepEqual([total, added, changed, deleted], [2, 1, 1, 1])
  assert.deepEqual([await places('old'), await places('fresh')], [[], [...all('a'), 'c/0'].sort()])
  assert.deepEqual(await knowledge.countKnowledge(database, base), { documents: 2, passages: count + 1, waiting: 0 })
  const read = await knowledge.readDocument(database, base, 'a')
  assert.equal(read?.blocks.map(({ text }) => text).join('\n'), long('fresh').join('\n'))
  return isDone ? 'done' : isChanged ? 'changed' : ingested === null ? 'not begun' : 'begun'
}
