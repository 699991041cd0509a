import assert from 'node:assert/strict'
import { test } from 'node:test'
import { plainText } from './plain-text.ts'

test('a line shows words, no marks of Markdown', () => {
  for (const [line, words] of [
    ['Bill 7 was **paid** on Monday.', 'Bill 7 was paid on Monday.'],
    ['# Offers - one - *two* - `three`', 'Offers - one - two - three'],
    ['see [the list](https://example.com/a) and ![a picture](x.png)', 'see the list and a picture'],
    ['```ts const a = 1 ```', 'const a = 1'],
    ['__both__ ~~gone~~ _soft_ ***loud***', 'both gone soft loud'],
    ['snake_case_name and 2 * 3 * 4', 'snake_case_name and 2 * 3 * 4'],
    ['{"a": "**not touched**"}', '{"a": "**not touched**"}'],
    ['order {"sku": "*"}', 'order {"sku": "*"}'],
    ['', ''],
  ] as const)
    assert.equal(plainText(line), words)
  const began = process.cpuUsage().user
  for (const piece of ['*a', '**', '_ ', '[', '`', '# ']) plainText(piece.repeat(60))
  assert.ok(process.cpuUsage().user - began < 50_000)
})
