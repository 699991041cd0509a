/** Every row of the fault matrix, on every store that it is for, some beside each other. `WITAN_FAULT_REPORT` names a file for the report. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import { faultPointNames } from '@witan/core/testing'
import { type Apart, openApart } from '../support/apart.ts'
import { type Ran, reportOf, turns, width } from './rig/matrix.ts'
import { lineOf, type ReportLine } from './rig/row.ts'
import { triedPoints } from './rows/f01-kill-anywhere.ts'

const timeout = 1_800_000

test('[I17] every fault point has its trials', () => {
  // What only a frozen worker passes is counted by the row that freezes workers.
  assert.deepEqual(
    faultPointNames.filter((name) => !triedPoints.includes(name)),
    ['fenced'],
  )
})

const matrix = import.meta.resolve('./rig/matrix.ts')

describe('the fault matrix, with two databases apart [I14] and memory that comes back [I15]', {
  concurrency: width,
}, () => {
  let apart: Apart
  const lines: ReportLine[] = []
  before(() => {
    apart = openApart()
  })
  after(() => {
    apart.close()
    const { WITAN_FAULT_REPORT: file = '' } = process.env
    if (file !== '') writeFileSync(file, `${JSON.stringify(reportOf('pr', lines), null, 2)}\n`)
  })
  for (const { row, store } of turns) {
    test(`[${row.id}] [I1] [I2] [I3] [I4] [I6] [I7] [I9] ${row.title}, ${store}`, { timeout }, async (context) => {
      const { result, line } = await apart.run<Ran>(matrix, 'runNamed', row.id, store, 'pr')
      lines.push(line)
      context.diagnostic(lineOf(row, store, result))
      assert.deepEqual(result.violations, [])
    })
  }
})
