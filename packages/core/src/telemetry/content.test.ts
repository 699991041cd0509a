/** What long texts cost: each is scrubbed once, however often it must be shortened. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { scrubberOfValues } from '../parameter/scrub.ts'
import { ContentWriter } from './content.ts'
import { assertCheap } from '../../../../test/support/cpu.ts'

/** Hides one word, and counts the characters that it has read. */
function counting() {
  const read = { characters: 0 }
  const hides = scrubberOfValues(['hidden-word'])
  assert.ok(hides !== null)
  const scrub = (text: string) => {
    read.characters += text.length
    return hides(text)
  }
  return { read, writer: new ContentWriter(Object.assign(scrub, { ...hides })) }
}

const long = 'of a hidden-word, "many" words; '.repeat(40_000)

test('[E81] of a reply of a megabyte only what an attribute holds is scrubbed; it is cut and marked, and stays JSON', () => {
  const { read, writer } = counting()
  const written = writer.piece({ role: 'assistant', parts: [{ type: 'text', content: long }] })
  assert.ok(read.characters < 400_000, `${read.characters} characters were read`)
  assert.ok(Buffer.byteLength(written) <= 65_536)
  assert.ok(!written.includes('hidden-word'))
  const { parts } = JSON.parse(written) as { parts: [{ content: string }] }
  const [kept = '', more] = parts[0].content.split('[cut: ')
  const rest = Number(/^(\d+) more bytes\]$/.exec(more ?? '')?.[1])
  assert.ok(rest > 0.9 * long.length && rest + Buffer.byteLength(kept) === long.length, `${rest} of ${long.length}`)
})

test('[D15] [E81] no cut leaves a part of a hidden value, wherever it falls', () => {
  for (let lead = 0; lead < 48; lead += 1) {
    // A long one: so much of the text goes that its cut end comes into the attribute.
    const secret = 'B-7788-99-Q'.repeat(lead % 2 === 0 ? 1 : 40)
    const writer = new ContentWriter(scrubberOfValues([secret]))
    const text = `${'x'.repeat(lead)}${`${'y'.repeat(13)}${secret}`.repeat(2_000)}`.padEnd(400_000, 'z')
    const values = [writer.text(text), writer.piece({ said: text }), writer.piece({ [text]: [text, text, text] })]
    for (const written of values) {
      assert.ok(Buffer.byteLength(written) <= 65_536)
      assert.ok(!/B-|7788|-Q/.test(written), `${lead}: ${written.slice(-90)}`)
    }
  }
})

test('[E80] a turn of the event loop is enough for the longest texts, whatever they hold', async () => {
  const scrub = scrubberOfValues(['hidden-word', 'employees/3-A', 'B-778899'])
  const texts = {
    words: 'The quick brown fox, and a hidden-word. '.repeat(500_000),
    escaped: '\\\\"\\n%41&#97;'.repeat(500_000),
    values: 'hidden-word'.repeat(1_000_000),
  }
  for (const [name, text] of Object.entries(texts))
    for (const value of [
      text,
      { parts: [{ content: text }, { content: text }] },
      Array(3_000).fill(text.slice(0, 5_000)),
    ]) {
      const writer = new ContentWriter(scrub)
      writer.value(value)
      await assertCheap({ total: 200 }, () => writer.value(value), name)
    }
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
