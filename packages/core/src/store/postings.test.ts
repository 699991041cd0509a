/** What is packed comes back, and is short. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { countedWords, packed, readCounts, unpacked } from './postings.ts'

test('packed postings come back as they were, numbers above 2^32 too', () => {
  const postings = [
    { passage: 5, count: 1, length: 1 },
    { passage: 6, count: 127, length: 128 },
    { passage: 300, count: 16_384, length: 4_000_000 },
    { passage: 2 ** 45 + 3, count: 2, length: 170 },
    { passage: 2 ** 52, count: 3, length: 0 },
  ]
  assert.deepEqual(unpacked(5, packed(postings)), postings)
  assert.deepEqual(unpacked(9, packed([])), [])
  const near = Array.from({ length: 100 }, (_, passage) => ({ passage, count: 1, length: 100 }))
  assert.equal(packed(near).length, 300)
})

test('words are counted and read again', () => {
  assert.deepEqual(countedWords('a b a 1 b a'), { words: 'a 3\nb 2\n1', length: 6 })
  assert.deepEqual(
    [...readCounts('a 3\nb 2\n1')],
    [
      ['a', 3],
      ['b', 2],
      ['1', 1],
    ],
  )
  assert.deepEqual([countedWords('').length, [...readCounts('')].length], [0, 0])
})
