/** The page on faults shows the report as it is. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withReport } from './faults.ts'
import { readPage } from './pages.ts'

test('[I17] the page on faults shows the last report', () => {
  const page = readPage('docs/faults.md')
  assert.equal(page, withReport(page), 'run `npx node test/docs/embed.ts`')
  assert.match(page, /trials, \d+ faults fired, \d+ violations/)
})
