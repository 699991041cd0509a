/**
 * The corpus of inputs that could hold a process: none holds its event loop for more than 50 ms of CPU. Prints the ten worst. A first play
 * pays for compiling code and for a heap that grows, so a row that takes longer is played again, up to three times; a hold of the input
 * itself comes back each time. The limit grows with the slowness of the machine, measured after a play that took too long. Garbage of
 * the set-up is collected before each play. CPU of the thread is counted, not time: the work of other processes, of hostile servers and of
 * clients is none of it.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Apart, openApart } from '../support/apart.ts'
import { rows } from './rows.ts'
import type { Measured } from './support/row.ts'

const measured = new URL('support/measured.ts', import.meta.url).href

describe('nothing in the corpus holds the loop', () => {
  let apart: Apart
  const all: Measured[] = []

  before(() => {
    apart = openApart()
  })

  after(() => {
    apart.close()
    const worst = all.sort((a, b) => b.longest - a.longest).slice(0, 10)
    console.table(
      worst.map(({ name, longest, whole }) => ({
        'longest turn, ms': Math.round(longest),
        'whole, ms': Math.round(whole),
        input: name,
      })),
    )
  })

  for (const { name } of rows) {
    test(name, async () => {
      const row = await apart.run<Measured>(measured, 'play', name, 3)
      all.push(row)
      assert.ok(
        row.longest < row.limit,
        `a turn took ${Math.round(row.longest)} ms of CPU, of ${Math.round(row.limit)}`,
      )
    })
  }
})
