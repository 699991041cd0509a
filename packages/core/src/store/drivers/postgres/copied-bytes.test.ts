/** What a server copies is put together, wherever its messages end. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CopiedBytes } from './copied-bytes.ts'

function sent(values: readonly Uint8Array[]): Buffer {
  const header = Buffer.from('5047434f50590aff0d0a000000000000000000', 'hex')
  const rows = values.flatMap((value) => {
    const head = Buffer.alloc(6)
    head.writeInt16BE(1)
    head.writeInt32BE(value.length, 2)
    return [head, value]
  })
  return Buffer.concat([header, ...rows, Buffer.from('ffff', 'hex')])
}

const values = [Buffer.from([0, 255, 1, 0, 0, 0]), Buffer.alloc(0), Buffer.from('ff\n\\.'), Buffer.alloc(300, 7)]
const tables: Readonly<Record<string, readonly Buffer[]>> = {
  'several rows': values,
  'one empty row': [Buffer.alloc(0)],
  'no row': [],
}

for (const [name, rows] of Object.entries(tables))
  for (const size of [1, 2, 5, 6, 7, 18, 19, 20, 1_000])
    test(`${name} in messages of ${size}`, () => {
      const all = sent(rows)
      const copied = new CopiedBytes()
      const memory = Buffer.alloc(size)
      for (let from = 0; from < all.length; from += size) {
        const length = all.copy(memory, 0, from, from + size)
        copied.take(memory.subarray(0, length))
        memory.fill(1) // the connection uses it again
      }
      assert.deepEqual(Buffer.from(copied.joined()), Buffer.concat(rows))
    })
