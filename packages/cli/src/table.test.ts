/** A list on terminals of several widths. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { tableLines } from './table.ts'

const columns = [{ title: 'AGENT' }, { title: 'MODEL' }, { title: 'SOURCE' }, { title: 'DESCRIPTION' }]
const rows = [
  ['company-assistant', 'scripted/company-assistant', 'code', 'The front desk of a trading company.'],
  ['clerk', 'a/b', 'data', ''],
]

function at(width: number): string[] {
  return tableLines(columns, rows, width).map((line) =>
    line
      .map(({ text }) => text)
      .join('')
      .trimEnd(),
  )
}

test('on a pipe nothing is cut', () => {
  assert.equal(
    at(Number.POSITIVE_INFINITY)[1],
    'company-assistant  scripted/company-assistant  code    The front desk of a trading company.',
  )
})

test('the last column is cut where the terminal ends', () => {
  assert.equal(at(86)[1], 'company-assistant  scripted/company-assistant  code    The front desk of a trading co…')
})

test('with little room it stands below its row, and nothing else is lost', () => {
  assert.deepEqual(at(60), [
    'AGENT              MODEL                       SOURCE',
    '    DESCRIPTION',
    'company-assistant  scripted/company-assistant  code',
    '    The front desk of a trading company.',
    'clerk              a/b                         data',
  ])
})

test('with still less the widest of the others is cut, but never what a command takes', () => {
  const lines = at(44)
  assert.equal(lines[2], 'company-assistant  scripted/company…  code')
  for (const line of lines) assert.ok(line.length <= 44, line)
})

test('a list of many rows, with a cell of any width, is drawn at once', () => {
  const rows = Array.from({ length: 200_000 }, (_, index) => [
    `a${index}`,
    index === 7 ? 'w'.repeat(2_000_000) : 'b',
    'c',
  ])
  const lines = tableLines([{ title: 'A' }, { title: 'B' }, { title: 'C' }], rows, 60)
  assert.equal(lines.length, 200_001 + 200_001)
  assert.ok((lines[8] ?? []).reduce((sum, { text }) => sum + text.length, 0) <= 60)
})
