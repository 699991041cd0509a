/** Where pages of lists end: at their limit, or at their bound in bytes, and the next one goes on after it. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { holds } from '../../../../test/support/seeds.ts'
import { pageBound } from '../identity/page-bound.ts'
import { boundedRows, type RowPage } from '../identity/row-page.ts'
import { type Page, type PageOptions, pageOf, rowPage } from './page.ts'

interface Row {
  readonly id: string
  readonly text: string
}

const form = { item: (row: Row) => row, id: ({ id }: Row) => id }

/** Rows of so many of a character, of which a reader of a store gets no more at once than the bound allows. */
function listsOf(
  lengths: readonly number[],
  character = 'x',
): Readonly<Record<string, (options: PageOptions) => Promise<Page<Row>>>> {
  const rows = lengths.map((length, index) => ({ id: `r${index}`, text: character.repeat(length) }))
  const read = async ({ limit, after, bound }: RowPage) => {
    const from = after === null ? 0 : rows.findIndex(({ id }) => id === after) + 1
    return boundedRows(rows.slice(from, from + limit), bound, ({ text }) => text.length)
  }
  return {
    'in memory': (options) => pageOf(rows, options, form),
    'of a store': (options) => rowPage(options, read, form),
  }
}

async function walk(list: (options: PageOptions) => Promise<Page<Row>>, limit: number, most: number) {
  const pages: Row[][] = []
  for (let cursor: string | null = null, isFirst = true; isFirst || cursor !== null; isFirst = false) {
    const { items, nextCursor } = await list({ limit, cursor, bound: pageBound(most) })
    pages.push([...items])
    cursor = nextCursor
  }
  return pages
}

describe('a page', () => {
  for (const kind of ['in memory', 'of a store']) {
    test(`${kind} ends at 4 MiB of JSON; a larger item comes alone, and none is lost or twice`, async () => {
      const list = listsOf([1_000_000, 5_000_000, ...Array.from({ length: 9 }, () => 900_000), 1])[kind]
      assert.ok(list !== undefined)
      const pages: (readonly number[])[] = []
      for (let cursor: string | null = null, isFirst = true; isFirst || cursor !== null; isFirst = false) {
        const page: Page<Row> = await list({ limit: 200, cursor })
        pages.push(page.items.map(({ id }) => Number(id.slice(1))))
        cursor = page.nextCursor
      }
      assert.deepEqual(pages, [[0], [1], [2, 3, 4, 5], [6, 7, 8, 9], [10, 11]])
    })

    for (const [character, most] of [
      ['x', 4],
      ['語', 1],
      ['\u0001', 1],
    ] as const)
      test(`${kind} counts bytes: ${most} of 900,000 ${JSON.stringify(character)} are a page`, async () => {
        const list = listsOf([900_000, 900_000, 900_000, 900_000, 900_000], character)[kind]
        assert.equal((await list?.({ limit: 200 }))?.items.length, most)
      })

    test(`${kind} loses and repeats nothing, whatever the lengths, the limit and the bound`, async (context) => {
      const lengths = fc.array(fc.integer({ min: 0, max: 900 }), { maxLength: 30 })
      const characters = fc.constantFrom(...['x', 'é', '語', '\ud800', '"', '\n', '\u0001'])
      const property = fc.asyncProperty(
        fc.record({ given: lengths, character: characters }),
        fc.integer({ min: 1, max: 9 }),
        fc.integer({ min: 1, max: 3_000 }),
        async ({ given, character }, limit, most) => {
          const list = listsOf(given, character)[kind]
          assert.ok(list !== undefined)
          const pages = await walk(list, limit, most)
          assert.deepEqual(
            pages.flat().map(({ id }) => id),
            given.map((_, index) => `r${index}`),
          )
          for (const page of pages) {
            assert.ok(page.length <= limit)
            assert.ok(page.length <= 1 || Buffer.byteLength(JSON.stringify(page)) <= most)
          }
        },
      )
      await holds(context, property, 300)
    })
  }
})
