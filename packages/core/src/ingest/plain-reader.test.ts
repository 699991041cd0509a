/** Plain text is read in paragraphs, and the longest holds no turn. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertCheap } from '../../../../test/support/cpu.ts'
import { plainReader } from './plain-reader.ts'

const { signal } = new AbortController()
const read = (content: string | Uint8Array) => plainReader.read(Buffer.from(content as string), 'text/plain', signal)

test('paragraphs stand between blank lines', async () => {
  const table: readonly (readonly [string, readonly string[]])[] = [
    ['', []],
    ['a\nb', ['a\nb']],
    ['\ufeffa\n\n \n\nb\r\n\r\nc\n \t\nd\n', ['a', ' ', 'b', 'c', 'd\n']],
  ]
  for (const [text, expected] of table)
    assert.deepEqual(
      (await read(text)).blocks.map((block) => block.text),
      expected,
    )
})

test('what is not UTF-8 is refused', async () => {
  for (const content of [Buffer.from('K\xe4se', 'latin1'), Buffer.from('a\0b')])
    await assert.rejects(read(content), /not text in UTF-8/)
})

test('16 MB hold no turn', async () => {
  const size = 16_000_000
  const lines = [`\n${' '.repeat(999)}x`, '\n\r', ' \n\t\r\n'].map((line) => line.repeat(size / 4 / line.length))
  for (const text of ['x'.repeat(size), '\n'.repeat(size), `\n${' '.repeat(size)}`, 'a\n\n'.repeat(size / 3), ...lines])
    await assertCheap({ longest: 45 }, () => read(text).catch((error: Error) => assert.match(error.message, /parts/)))
})
