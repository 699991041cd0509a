/** Pages of a document: two processes write with clocks that disagree, and a walk by cursor meets every message once. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { memoryStore, type Runtime } from '@witan/core'
import type { Document } from '@witan/protocol'
import { fakeClock } from '../support/clock.ts'
import { createStage } from '../support/stage.ts'

const path = 'chats/1'

/** Two processes on one store, the second an hour behind, that answer in turn. */
async function writtenByTwo(turns: number): Promise<readonly [Runtime, Runtime]> {
  const store = memoryStore()
  const hourMs = 3_600_000
  const noon = Date.UTC(2026, 0, 1, 12)
  const clocks = [fakeClock(noon), fakeClock(noon - hourMs)]
  const processes = clocks.map((clock, index) =>
    createStage({
      agents: [{ id: 'root' }],
      plays: { root: (_, turn) => `answer ${turn}` },
      options: { clock, store: index === 0 ? store : memoryStore({ beside: store }) },
    }),
  )
  const [first, second] = processes
  if (first === undefined || second === undefined) throw new Error('two processes were made')
  await first.runtime.start({ agent: 'root', id: path })
  for (let turn = 0; turn < turns; turn += 1) {
    await (turn % 3 === 1 ? second : first).run(path, { prompt: `question ${turn}` })
    for (const clock of clocks) clock.advance(7)
  }
  return [first.runtime, second.runtime]
}

type Options = NonNullable<Parameters<Runtime['getDocument']>[1]>

/** All pages from there on, in the direction of the first. */
async function pages(runtime: Runtime, options: Options): Promise<readonly Document[]> {
  const isOlder = options.after === undefined
  const found = [await runtime.getDocument(path, options)]
  for (;;) {
    const last = found.at(-1)
    const cursor = isOlder ? last?.olderCursor : last?.newerCursor
    assert.equal(last?.hasMore, cursor != null)
    if (cursor == null) return found
    const { limit = 50 } = options
    found.push(await runtime.getDocument(path, { cursor, limit }))
  }
}

const placesOf = (found: readonly Document[]) =>
  found.flatMap(({ messages }) => messages.map(({ seq, role }) => `${seq} ${role}`))

test('[Rb54] a walk by cursor meets every message once where two processes write and dates go back by an hour', async () => {
  const [runtime, other] = await writtenByTwo(20)
  const whole = await runtime.getDocument(path, { limit: 200 })
  assert.equal(whole.messages.length, 40)
  const dates = whole.messages.map(({ date }) => date)
  assert.ok(
    dates.some((date, index) => date < (dates[index - 1] ?? '')),
    'dates go back',
  )
  const everything = placesOf([whole])
  for (const limit of [1, 7, 40, 50]) {
    const back = await pages(runtime, { limit })
    assert.deepEqual(placesOf(back.toReversed()), everything)
    const on = await pages(other, { limit, after: '1970-01-01T00:00:00Z' })
    assert.deepEqual(placesOf(on), everything)
  }
})

test('[Rb54] from any date the walks before and after it meet every message, and each page leads back to the one before', async () => {
  const [runtime] = await writtenByTwo(6)
  const whole = await runtime.getDocument(path, { limit: 200 })
  for (const { date } of whole.messages) {
    const later = new Date(Date.parse(date) + 1).toISOString()
    const [older, newer] = [
      await pages(runtime, { before: later, limit: 3 }),
      await pages(runtime, { after: date, limit: 3 }),
    ]
    assert.deepEqual([...placesOf(older.toReversed()), ...placesOf(newer)], placesOf([whole]))
    const [first, second] = newer
    if (second === undefined) continue
    const back = await runtime.getDocument(path, { cursor: second.olderCursor, limit: 3 })
    assert.deepEqual(placesOf([back]), placesOf([first as Document]))
  }
})

test('[Rb54] the ends of a document have no cursor there, and an empty one has none at all', async () => {
  const [runtime] = await writtenByTwo(2)
  const whole = await runtime.getDocument(path)
  assert.deepEqual([whole.olderCursor, whole.newerCursor, whole.hasMore], [null, null, false])
  const newest = await runtime.getDocument(path, { limit: 2 })
  assert.deepEqual([newest.newerCursor, newest.hasMore], [null, true])
  const oldest = await runtime.getDocument(path, { limit: 2, after: '1970-01-01T00:00:00Z' })
  assert.deepEqual([oldest.olderCursor, oldest.hasMore], [null, true])
  const middle = await runtime.getDocument(path, { limit: 1, cursor: newest.olderCursor })
  assert.ok(middle.olderCursor !== null && middle.newerCursor !== null)
  await runtime.start({ agent: 'root', id: 'chats/empty' })
  const empty = await runtime.getDocument('chats/empty')
  assert.deepEqual([empty.messages, empty.olderCursor, empty.newerCursor, empty.hasMore], [[], null, null, false])
})

test('[Rb54] a cursor stands alone, belongs to its document, and is refused with what to send', async () => {
  const [runtime] = await writtenByTwo(2)
  const { olderCursor } = await runtime.getDocument(path, { limit: 1 })
  const cursor = olderCursor ?? assert.fail('there are older messages')
  const date = '2026-01-01T00:00:00Z'
  for (const options of [
    { before: date, after: date },
    { before: date, cursor },
    { after: date, cursor },
  ])
    await assert.rejects(runtime.getDocument(path, options), { code: 'RUN_INPUT_INVALID', hint: /Send only one of/ })
  const refused = { code: 'BODY_INVALID', path: 'cursor', hint: /olderCursor/ }
  await runtime.start({ agent: 'root', id: 'chats/2' })
  await assert.rejects(runtime.getDocument('chats/2', { cursor }), refused)
  await assert.rejects(runtime.getDocument(path, { cursor: 'c_1' }), refused)
  await runtime.deleteConversation(path)
  await runtime.start({ agent: 'root', id: path })
  await assert.rejects(runtime.getDocument(path, { cursor }), refused)
})

test('[Rb54] two pages that are asked for at once are each whole', async () => {
  const [runtime] = await writtenByTwo(12)
  const whole = placesOf([await runtime.getDocument(path, { limit: 200 })])
  const { olderCursor } = await runtime.getDocument(path, { limit: 5 })
  const asked = Array.from({ length: 30 }, (_, index) =>
    runtime.getDocument(path, index % 2 === 0 ? { limit: 5 } : { limit: 5, cursor: olderCursor }),
  )
  for (const [index, page] of (await Promise.all(asked)).entries())
    assert.deepEqual(placesOf([page]), index % 2 === 0 ? whole.slice(-5) : whole.slice(-10, -5))
})
