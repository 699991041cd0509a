/** Pages of a document. A walk by cursor sees every message once, whatever the dates, and reports exactly whether there are more. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Entry } from '@witan/protocol/entries'
import fc from 'fast-check'
import { holds } from '../../../../test/support/seeds.ts'
import { pageBound } from '../identity/page-bound.ts'
import { type DocumentFold, emptyDocument, applyEntry } from './document.ts'
import { assertWithin, type DocumentPage, type PageStart, pageOf, readCursor } from './document-page.ts'

const path = 'chats/1'

/** A message at that date; with a call that was brought along its entry gives two. */
function message(at: number, text: string, withCall = false): Omit<Entry & { type: 'message' }, 'seq'> {
  const call = { call: 'c', parentCall: null, run: 'c', invocation: 'c' }
  const place = { ...call, document: path, author: 'user', agentPath: 'a' }
  const brought = [{ id: text, name: 'Look', arguments: '{}', response: 'seen' }]
  const body = { author: 'user', text, ...(withCall ? { artificialActions: brought } : {}) }
  return { type: 'message', kind: null, body, at, place, job: 'c', epoch: 0, appendNo: 0 }
}

/** Takes one message at each of these dates; every second seq belongs to another document. */
function extend(document: DocumentFold, dates: readonly number[]): void {
  const before = document.messages.at(-1)?.seq ?? 0
  for (const [index, at] of dates.entries())
    applyEntry(document, { ...message(at, `${at}`, at % 3 === 0), seq: before + 2 * (index + 1) })
}

function documentOf(dates: readonly number[]): DocumentFold {
  const document = emptyDocument(path)
  extend(document, dates)
  return document
}

const detail = 'detailed' as const
const newest: PageStart = { kind: 'newest' }
/** A message by its own place. */
const placesOf = (messages: readonly { readonly seq: number; readonly role: string }[]) =>
  messages.map(({ seq, role }) => `${seq} ${role}`)

/** All messages from `start` on in its direction, page by page; `between` happens after each page. */
async function walk(
  document: DocumentFold,
  { mostBytes, ...page }: Pick<DocumentPage, 'start' | 'limit'> & { readonly mostBytes?: number },
  between = () => {},
): Promise<string[]> {
  const seen: string[] = []
  for (let start = page.start; ; ) {
    const bound = mostBytes === undefined ? {} : { bound: pageBound(mostBytes) }
    const found = await pageOf(document, { ...page, ...bound, start, detail })
    const isOlder = start.kind === 'cursor' ? start.direction === 'older' : start.kind !== 'after'
    const places = placesOf(found.messages)
    assert.ok(places.length <= page.limit)
    if (isOlder) seen.unshift(...places)
    else seen.push(...places)
    const cursor = isOlder ? found.olderCursor : found.newerCursor
    assert.equal(found.hasMore, cursor !== null)
    if (cursor === null) return seen
    assert.ok(places.length > 0, 'a page that is followed by another one is not empty')
    start = readCursor(path, cursor)
    between()
  }
}

const dates = fc.array(fc.integer({ min: 0, max: 12 }), { maxLength: 30 })
const limits = fc.integer({ min: 1, max: 8 })

describe('pages of a document', () => {
  test('[Rb54] a walk by cursor, back or on, sees every message once and in order, whatever their dates', async (context) => {
    const bytes = fc.integer({ min: 1, max: 3_000 })
    const property = fc.asyncProperty(dates, limits, bytes, async (list, limit, mostBytes) => {
      const document = documentOf(list)
      const all = placesOf(document.messages)
      assert.deepEqual(await walk(document, { start: newest, limit, mostBytes }), all)
      assert.deepEqual(await walk(document, { start: { kind: 'after', date: -1 }, limit, mostBytes }), all)
    })
    await holds(context, property, 2000)
  })

  test('[Rb54] from any date on, the two walks together see every message once', async (context) => {
    const property = fc.asyncProperty(dates, limits, fc.integer({ min: -1, max: 13 }), async (list, limit, date) => {
      const document = documentOf(list)
      const older = await walk(document, { start: { kind: 'before', date: date + 1 }, limit })
      const newer = await walk(document, { start: { kind: 'after', date }, limit })
      assert.deepEqual([...older, ...newer], placesOf(document.messages))
    })
    await holds(context, property, 2000)
  })

  test('[Rb54] before a date stands no message of it or a later one, and after a date every message that is later', async (context) => {
    const property = fc.asyncProperty(dates, fc.integer({ min: -1, max: 13 }), async (list, date) => {
      const document = documentOf(list)
      const page = async (kind: 'before' | 'after') =>
        (await pageOf(document, { start: { kind, date }, limit: 200, detail })).messages.map((one) =>
          Date.parse(one.date),
        )
      assert.ok((await page('before')).every((at) => at < date))
      const later = (ats: readonly number[]) => ats.filter((at) => at > date).length
      assert.equal(later(await page('after')), later(document.messages.map(({ at }) => at)))
    })
    await holds(context, property, 2000)
  })

  test('[Rb54] a page can be left in either direction, also an empty one', async (context) => {
    const property = fc.asyncProperty(dates, limits, fc.integer({ min: -2, max: 14 }), async (list, limit, date) => {
      const document = documentOf(list)
      for (const kind of ['before', 'after'] as const) {
        const page = await pageOf(document, { start: { kind, date }, limit, detail })
        const rest = async (cursor: string | null) =>
          cursor === null ? [] : await walk(document, { start: readCursor(path, cursor), limit })
        const all = [...(await rest(page.olderCursor)), ...placesOf(page.messages), ...(await rest(page.newerCursor))]
        assert.deepEqual(all, placesOf(document.messages))
      }
    })
    await holds(context, property, 2000)
  })

  test('[Rb54] what is appended during a walk moves nothing: back it is not met, on it is met once', async (context) => {
    const property = fc.asyncProperty(dates, dates, limits, async (list, more, limit) => {
      for (const start of [newest, { kind: 'after', date: -1 } as const]) {
        const document = documentOf(list)
        const before = placesOf(document.messages)
        const late = [...more]
        const seen = await walk(document, { start, limit }, () => extend(document, late.splice(0, 2)))
        assert.deepEqual(seen, start === newest ? before : placesOf(document.messages))
      }
    })
    await holds(context, property, 2000)
  })

  test('a page shares nothing with the fold: what a reader does to it changes no other page', async () => {
    const document = documentOf([3])
    const first = await pageOf(document, { start: newest, limit: 9, detail })
    const whole = structuredClone(first)
    const [call] = first.messages[1]?.toolCalls ?? []
    Object.assign(call ?? assert.fail(), { result: 'changed' })
    Object.assign(call?.arguments as object, { more: 'changed' })
    first.messages[0]?.parts.push({ type: 'text', text: 'changed' })
    assert.deepEqual(await pageOf(document, { start: newest, limit: 9, detail }), whole)
  })

  test('a cursor that is none, is of another document or of a longer log is refused with what to send', async () => {
    const document = documentOf([1, 2, 3])
    const { olderCursor } = await pageOf(document, { start: newest, limit: 1, detail })
    const cursor = olderCursor ?? assert.fail('there are older messages')
    const refused = (run: () => unknown, detail: RegExp) =>
      assert.throws(run, (error: { code?: string; path?: string; hint?: string; message: string }) => {
        assert.deepEqual([error.code, error.path], ['BODY_INVALID', 'cursor'])
        assert.match(error.message, detail)
        assert.match(error.hint ?? '', /olderCursor/)
        return true
      })
    const texts = ['', '1', 'older.1', `${cursor} `, cursor.toUpperCase(), cursor.replace('older', 'other'), '\u0000']
    const huge = [cursor.replace('.', `.${'9'.repeat(400)}`), 'older.'.repeat(100_000)]
    for (const text of [...texts, ...huge]) refused(() => readCursor(path, text), /is no cursor of a document/)
    refused(() => readCursor('chats/2', cursor), /belongs to another document/)
    refused(() => readCursor(`${path}/leaf`, cursor), /belongs to another document/)
    assertWithin(readCursor(path, cursor), 6)
    refused(() => assertWithin(readCursor(path, cursor), 5), /points beyond the end/)
  })
})
