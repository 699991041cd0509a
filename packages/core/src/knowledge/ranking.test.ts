/** How rankings are joined and ordered. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  addPosting,
  addWord,
  bestScores,
  compareKeys,
  createScores,
  emptyColumns,
  joinRanks,
  nearness,
  ranked,
  rarityOf,
} from './ranking.ts'

const at = (document: string, place = 0, base = 'b') => ({ base, document, place })

test('a rare word counts more, a repeated one less than twice, and a long passage less', () => {
  const seen = { passages: 10, words: 100 }
  assert.ok(rarityOf(1, seen) > rarityOf(5, seen) && rarityOf(10, seen) > 0)
  const scores = createScores()
  const postings = emptyColumns()
  for (const { passage, count, length } of [
    { passage: 1, count: 1, length: 10 },
    { passage: 2, count: 2, length: 10 },
    { passage: 3, count: 1, length: 20 },
  ])
    addPosting(postings, passage, [count, length])
  addWord(scores, postings, { rarity: 1, seen })
  assert.equal(scores.get(1), 1)
  assert.ok(scores.get(2) > 1 && scores.get(2) < 2 && scores.get(3) < 1 && scores.get(4) === 0)
})

test('all that equal the last of the best are among them', () => {
  const scores = createScores()
  for (const [index, score] of [1, 5, 3, 3, 9, 3, 2].entries()) scores.add(index, score)
  const best = (limit: number) =>
    bestScores(scores, limit)
      .map(({ passage }) => passage)
      .sort()
  assert.deepEqual([best(0), best(1), best(2), best(3), best(99).length], [[], [4], [1, 4], [1, 2, 3, 4, 5], 7])
})

test('keys are compared as their UTF-8 is', () => {
  const keys = [
    '',
    'a',
    'a\uffee',
    'a\u{1f600}',
    'ab',
    '\ud7ff',
    '\ue000',
    '\u{10ffff}',
    'é',
    'Z',
    '\u{1f600}\uffee',
    '\u{1f601}',
  ]
  const sorted = keys.toSorted((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other)))
  assert.deepEqual(keys.toSorted(compareKeys), sorted)
})

test('joined rankings add up reciprocal ranks, and break ties by base, key and place', () => {
  const lists = [
    [at('x'), at('y'), at('z')],
    [at('y'), at('w'), at('x')],
  ]
  assert.deepEqual(
    joinRanks(lists, ['b'], 9).map(({ document }) => document),
    ['y', 'x', 'w', 'z'],
  )
  const tied = [[at('b', 1)], [at('b', 0)], [at('a', 5)], [at('c', 0, 'first')]]
  assert.deepEqual(joinRanks(tied, ['first', 'b'], 3), [at('c', 0, 'first'), at('a', 5), at('b', 0)])
  assert.deepEqual(
    ranked(
      [
        [1, at('a')],
        [2, at('b')],
      ],
      ['b'],
      1,
    ),
    [at('b')],
  )
  assert.deepEqual(joinRanks([], ['b'], 3), [])
})

test('nearness is the cosine, and 0 with zeros', () => {
  assert.deepEqual([nearness(0, 0, 5), nearness(6, 4, 9), nearness(-6, 4, 9)], [0, 1, -1])
})

test('scores of many passages add up, however far apart their numbers are', () => {
  const scores = createScores()
  const wanted = new Map<number, number>()
  let state = 1
  for (let round = 0; round < 30_000; round += 1) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    const passage =
      round % 3 === 0 ? state % 5_000 : round % 3 === 1 ? (state % 900) * 1_048_576 + (state % 7) : state * 1_000_000
    scores.add(passage, state % 100)
    wanted.set(passage, (wanted.get(passage) ?? 0) + (state % 100))
  }
  const found = new Map<number, number>()
  scores.each((passage, score) => found.set(passage, score))
  assert.deepEqual(new Map([...found].sort(([a], [b]) => a - b)), new Map([...wanted].sort(([a], [b]) => a - b)))
  assert.equal(scores.size, wanted.size)
})
