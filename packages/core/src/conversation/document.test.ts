/** Pages of a document: whatever the dates, a walk sees every message once, and says truly whether there are more. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Entry } from '@witan/protocol/entries'
import fc from 'fast-check'
import { type DocumentFold, type DocumentPage, emptyDocument, pageOf, takeEntry } from './document.ts'

/** A document with one message at each of these dates. */
function documentOf(dates: readonly number[]): DocumentFold {
  const document = emptyDocument('chats/1')
  for (const [index, at] of dates.entries()) {
    const call = { call: 'c', parentCall: null, run: 'c', invocation: 'c' }
    const place = { ...call, document: 'chats/1', author: 'user', agentPath: 'a' }
    const body = { author: 'user', text: `${index}` }
    const entry: Entry = {
      type: 'message',
      kind: null,
      body,
      seq: index + 1,
      at,
      place,
      job: 'c',
      epoch: 0,
      appendNo: 0,
    }
    takeEntry(document, entry)
  }
  return document
}

const whole: DocumentPage = { before: null, after: null, limit: 200, detail: 'detailed' }
const textsOf = (page: ReturnType<typeof pageOf>) => page.messages.map(({ text }) => Number(text))

/** All messages, page by page, from the newest back or from before the first on. */
function walk(document: DocumentFold, limit: number, isBack: boolean): number[] {
  const seen: number[] = []
  let edge: number | null = isBack ? null : -1
  for (;;) {
    const page = pageOf(document, { ...whole, limit, ...(isBack ? { before: edge } : { after: edge }) })
    if (isBack) seen.unshift(...textsOf(page))
    else seen.push(...textsOf(page))
    if (!page.hasMore) return seen
    edge = Date.parse((isBack ? page.messages[0] : page.messages.at(-1))?.date ?? '')
  }
}

const dates = fc
  .array(fc.integer({ min: 0, max: 12 }), { maxLength: 30 })
  .map((list) => list.toSorted((one, other) => one - other))

describe('pages of a document', () => {
  test('[Rb54] a walk by dates, back or on, sees every message once and in order', () => {
    const property = fc.property(dates, fc.integer({ min: 1, max: 8 }), fc.boolean(), (list, limit, isBack) => {
      assert.deepEqual(
        walk(documentOf(list), limit, isBack),
        list.map((_, index) => index),
      )
    })
    fc.assert(property, { numRuns: 2000, seed: 54 })
  })

  test('[Rb54] a page holds only what is within its exclusive dates, no gap, and at most its limit of distinct dates', () => {
    const edge = fc.option(fc.integer({ min: -1, max: 13 }))
    const shape = fc.record({ list: dates, at: edge, isBack: fc.boolean(), limit: fc.integer({ min: 1, max: 8 }) })
    const property = fc.property(shape, ({ list, at, isBack, limit }) => {
      const page = pageOf(documentOf(list), { ...whole, limit, ...(isBack ? { before: at } : { after: at }) })
      const within = list.flatMap((date, index) => {
        const isOut = at !== null && (isBack ? date >= at : date <= at)
        return isOut ? [] : [index]
      })
      const shown = textsOf(page)
      const isFromEnd = isBack || at === null
      assert.deepEqual(shown, isFromEnd ? within.slice(within.length - shown.length) : within.slice(0, shown.length))
      assert.equal(page.hasMore, shown.length < within.length)
      assert.ok(shown.length > 0 || within.length === 0, 'a page of what is there is not empty')
      const shared = new Set(shown.map((index) => list[index]))
      assert.ok(shown.length <= limit || shared.size === 1, 'longer than its limit')
    })
    fc.assert(property, { numRuns: 2000, seed: 54 })
  })
})
