/** A collector in a process of its own: takes what it is sent and counts the spans. With `silent` it never answers. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

const isSilent = process.argv[2] === 'silent'
let spans = 0

/** The bytes of each field with this number in a message of protobuf that holds only messages. */
function fieldsOf(message: Buffer, wanted: number): Buffer[] {
  const found: Buffer[] = []
  const varint = () => {
    let value = 0
    for (let shift = 1; ; shift *= 128) {
      const byte = message[at++] ?? 0
      value += (byte & 0x7f) * shift
      if (byte < 0x80) return value
    }
  }
  let at = 0
  while (at < message.length) {
    const tag = varint()
    const length = varint()
    if (tag >> 3 === wanted) found.push(message.subarray(at, at + length))
    at += length
  }
  return found
}

const server = createServer((request, response) => {
  const parts: Buffer[] = []
  request.on('data', (part: Buffer) => parts.push(part))
  request.on('end', () => {
    for (const ofResource of fieldsOf(Buffer.concat(parts), 1))
      for (const ofScope of fieldsOf(ofResource, 2)) spans += fieldsOf(ofScope, 2).length
    if (!isSilent) response.end()
  })
})
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }))
process.on('message', (order) => {
  if (order === 'end') process.exit(0)
  process.send?.({ spans })
})
