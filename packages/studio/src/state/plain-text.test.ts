import assert from 'node:assert/strict'
import { test } from 'node:test'
import { plainText } from './plain-text.ts'
import { assertCheap } from '../../../../test/support/cpu.ts'

test('a line shows words, no marks of Markdown', async () => {
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
  for (const piece of ['*a', '**', '_ ', '[', '`', '# '])
    await assertCheap({ total: 50 }, () => plainText(piece.repeat(60)), piece)
})
