import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createParser } from 'eventsource-parser'
import fc from 'fast-check'
import { createFrameParser, type Frame, readFrames } from './sse.ts'
import { holds } from '../../../test/support/seeds.ts'

const whole = (text: string): Frame[] => createFrameParser().push(text)

function pieces(text: string, cuts: readonly number[]): string[] {
  const at = [...new Set(cuts.map((cut) => cut % (text.length + 1)))].sort((a, b) => a - b)
  return [...at, text.length].map((end, index) => text.slice(index === 0 ? 0 : at[index - 1], end))
}

function peer(parts: readonly string[]): Frame[] {
  const frames: Frame[] = []
  const parser = createParser({
    onEvent: ({ id, event, data }) => frames.push({ id: id ?? '', event: event ?? '', data }),
  })
  for (const part of parts) parser.feed(part)
  return frames
}

describe('server-sent events', () => {
  it('reads id, event and data, and drops one space after the colon', () => {
    assert.deepEqual(whole('id: 12\nevent: start\ndata:  {"a":1}\n\n'), [
      { id: '12', event: 'start', data: ' {"a":1}' },
    ])
  })

  it('takes CR, LF and CRLF as ends of a line', () => {
    for (const end of ['\r', '\n', '\r\n']) {
      assert.deepEqual(whole(`data: a${end}data: b${end}${end}`), [{ id: '', event: '', data: 'a\nb' }])
    }
  })

  it('takes a CRLF that two pieces cut as one end', () => {
    const parser = createFrameParser()
    assert.deepEqual(
      [...parser.push('data: a\r'), ...parser.push('\ndata: b\r'), ...parser.push('\n\r\n')],
      [{ id: '', event: '', data: 'a\nb' }],
    )
  })

  it('skips comments, unknown fields, ids with NUL, and frames without data', () => {
    assert.deepEqual(whole(': ping\n\nevent: x\n\nid: a\0b\nfoo: 1\ndata\n\n'), [{ id: '', event: '', data: '' }])
  })

  it('skips one byte order mark at the start only', () => {
    assert.deepEqual(
      whole('\uFEFFdata: a\n\ndata: \uFEFFb\n\n').map((frame) => frame.data),
      ['a', '\uFEFFb'],
    )
  })

  it('never gives out a frame that the end cuts off', () => {
    assert.deepEqual(whole('data: a\n\ndata: b\n'), [{ id: '', event: '', data: 'a' }])
  })

  it('refuses a frame without end', () => {
    const parser = createFrameParser()
    const million = 'x'.repeat(1_000_000)
    parser.push('data: ')
    assert.throws(() => {
      for (let index = 0; index < 20; index += 1) parser.push(million)
    }, RangeError)
  })

  it('reads a line of many pieces in linear time', () => {
    const parser = createFrameParser()
    parser.push('data: ')
    for (let index = 0; index < 200_000; index += 1) parser.push('xxxxx')
    assert.equal(parser.push('\n\n')[0]?.data.length, 1_000_000)
  })

  it('agrees with eventsource-parser on any text in any pieces', async (context) => {
    const line = fc.oneof(
      fc
        .tuple(
          fc.constantFrom('data', 'event', 'id', 'retry', 'other', ''),
          fc.constantFrom(':', ': ', ':  ', ''),
          fc.string({ unit: 'binary' }),
        )
        .map((parts) => parts.join('').replaceAll(/[\r\n]/g, '')),
      fc.constant(''),
      fc.constant('data: \uD800\0 lone'),
    )
    const text = fc
      .array(fc.tuple(line, fc.constantFrom('\n', '\r', '\r\n')), { maxLength: 30 })
      .map((lines) => lines.flat().join(''))
    await holds(
      context,
      fc.property(text, fc.array(fc.nat(), { maxLength: 12 }), fc.boolean(), (body, cuts, mark) => {
        const marked = `${mark ? '\uFEFF' : ''}${body}\n\n`
        const parts = pieces(marked, cuts)
        const parser = createFrameParser()
        const ours = parts.flatMap((part) => parser.push(part))
        assert.deepEqual(ours, whole(marked))
        assert.deepEqual(ours, peer([marked]))
      }),
      2000,
    )
  })

  it('reads bytes that cut a character, and cancels the body when the loop is left', async () => {
    const bytes = new TextEncoder().encode('\uFEFFdata: ä€😀\n\ndata: b\n\n')
    let cancelled = false
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        for (const byte of bytes) controller.enqueue(Uint8Array.of(byte))
      },
      cancel: () => {
        cancelled = true
      },
    })
    for await (const frame of readFrames(body)) {
      assert.equal(frame.data, 'ä€😀')
      break
    }
    assert.equal(cancelled, true)
  })
})
