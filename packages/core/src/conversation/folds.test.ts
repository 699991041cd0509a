/** The folds of a log: who wrote an entry, and what had been folded before it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Entry, EntryView } from '@witan/protocol/entries'
import { foldsOf } from './folds.ts'

/** A log whose entries have these views, each written by a job of its own. */
function log(...views: readonly (EntryView | null)[]): readonly Entry[] {
  return views.map((view, at) => {
    const place = { call: `c${at}` }
    const entry = { type: 'notice', kind: null, body: {}, job: `j${at}`, epoch: 1, seq: at + 1, place }
    return (view === null ? entry : { ...entry, view }) as unknown as Entry
  })
}

/** The order of each fold, with the entries that it wrote marked. */
function orders(entries: readonly Entry[], copied = 0): readonly string[] {
  const written = foldsOf(entries, copied) ?? assert.fail('too many')
  const folds = [...new Set(written.map(({ fold }) => fold))]
  return folds.map((fold) =>
    fold.order.map((index) => (written[index]?.fold === fold ? `${index}!` : `${index}`)).join(' '),
  )
}

test('[O3] one process folds all entries in the order of the log', () => {
  assert.deepEqual(orders(log(null, null, null)), ['0! 1! 2!'])
})

test('[O3] what another process wrote is folded where an entry says that it was read', () => {
  const entries = log(null, { by: 'b', upTo: 1 }, null, { upTo: 2 })
  assert.deepEqual(orders(entries), ['0! 2! 1 3!', '0 1!'])
})

test('[O3] [D1] processes that come one after the other are one fold', () => {
  const entries = log(null, { by: 'b', upTo: 1 }, { by: 'c', upTo: 2 }, { by: 'd', upTo: 3 })
  assert.deepEqual(orders(entries), ['0! 1! 2! 3!'])
})

test('[O3] one that had not read all of the other is a fold of its own', () => {
  assert.deepEqual(orders(log(null, null, { by: 'b', upTo: 1 })), ['0! 1!', '0 2!'])
})

test('[O3] what a fork copied stands before all of it', () => {
  assert.deepEqual(orders(log(null, null, { by: 'b', upTo: 2 }), 2), ['0! 1! 2!'])
})
