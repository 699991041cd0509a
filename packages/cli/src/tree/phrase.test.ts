import assert from 'node:assert/strict'
import { test } from 'node:test'
import { age } from './phrase.ts'

test('an age is told in its largest whole part', () => {
  const minute = 60_000
  const rows: [ms: number, said: string][] = [
    [-5, 'now'],
    [0, 'now'],
    [minute - 1, 'now'],
    [minute, '1 min'],
    [59 * minute, '59 min'],
    [60 * minute, '1 hour'],
    [150 * minute, '2 hours'],
    [24 * 60 * minute, '1 day'],
    [40 * 24 * 60 * minute, '40 days'],
  ]
  for (const [ms, said] of rows) assert.equal(age(ms), said, `${ms}`)
})
