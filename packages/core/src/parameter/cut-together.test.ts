/** Texts that are read together: how much of each is kept. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cutTogether } from './scrub.ts'

const most = 1_000_000

test('of texts that are too long together the longest are cut to one length, and short ones stay', () => {
  const cut = (...lengths: number[]) =>
    cutTogether(lengths.map((length) => 'x'.repeat(length))).map(({ length }) => length)
  assert.deepEqual(cut(), [])
  assert.deepEqual(cut(most), [most])
  assert.deepEqual(cut(10, most - 10), [10, most - 10])
  const mark = ' [cut: 499995 of 900000 characters]'.length
  assert.deepEqual(cut(900_000, 10, 900_000), [499_995 + mark, 10, 499_995 + mark])
  assert.equal(cutTogether([`${'x'.repeat(499_999)}😀`, 'y'.repeat(most)])[0]?.isWellFormed(), true)
})
