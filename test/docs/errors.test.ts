/** The page of errors against the closed table: every code has its paragraph, with its status. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { errorTable } from '@witan/protocol'
import { readPage } from './pages.ts'

/** One line of the page: `| code | status | what to do |`. */
const row = /^\| `([A-Z_]+)` \| (\d{3})(, retry)? \| (.+) \|$/gm

describe('the page of errors', () => {
  const rows = [...readPage('docs/concepts/errors.md').matchAll(row)]

  test('it has every code of the table once, and no other', () => {
    assert.deepEqual(rows.map(([, code]) => code).sort(), Object.keys(errorTable).sort())
  })

  test('status and retry advice are those of the table', () => {
    for (const [, code = '', status, retry] of rows) {
      const meaning = errorTable[code as keyof typeof errorTable]
      if (meaning === undefined) continue
      assert.equal(Number(status), meaning.status, code)
      assert.equal(retry !== undefined, 'retryable' in meaning && meaning.retryable === true, code)
    }
  })

  test('each says what to do in a sentence of its own', () => {
    const texts = rows.map(([, , , , text = '']) => text)
    assert.equal(new Set(texts).size, texts.length)
    for (const text of texts) assert.ok(text.length >= 30 && text.endsWith('.'), text)
  })
})
