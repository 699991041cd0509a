/** What long texts cost: each is scrubbed once, however often it must be shortened. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { scrubberOfValues } from '../parameter/scrub.ts'
import { ContentWriter } from './content.ts'

/** Hides one word, and counts the characters that it has read. */
function counting() {
  const read = { characters: 0 }
  const hides = scrubberOfValues(['hidden-word'])
  assert.ok(hides !== null)
  const scrub = (text: string) => {
    read.characters += text.length
    return hides(text)
  }
  return { read, writer: new ContentWriter(Object.assign(scrub, { inPieces: hides.inPieces })) }
}

const long = 'of a hidden-word, "many" words; '.repeat(40_000)

test('[E81] a reply of a megabyte is scrubbed once, cut and marked, and stays JSON', () => {
  const { read, writer } = counting()
  const written = writer.piece({ role: 'assistant', parts: [{ type: 'text', content: long }] })
  assert.ok(read.characters < 1.2 * long.length, `${read.characters} characters were read`)
  assert.ok(Buffer.byteLength(written) <= 65_536)
  assert.ok(!written.includes('hidden-word'))
  const { parts } = JSON.parse(written) as { parts: [{ content: string }] }
  assert.match(parts[0].content, /\[cut: \d+ more bytes\]$/)
})

test('[D15] a long value that fits once it is scrubbed is not cut', () => {
  const { writer } = counting()
  const words = Array.from({ length: 4_000 }, () => `hidden-word${''.padEnd(3)}`)
  const written = writer.value({ words })
  assert.ok(JSON.stringify({ words }).length > 65_536)
  assert.deepEqual(JSON.parse(written), { words: words.map(() => '[hidden]   ') })
})

test('a list of many small values is cut after so many items, with a mark', () => {
  const written = new ContentWriter(null).value(Array.from({ length: 100_000 }, (_, index) => index))
  const items = JSON.parse(written) as unknown[]
  assert.equal(items.at(-1), `[cut: ${100_000 - items.length + 1} more]`)
})
