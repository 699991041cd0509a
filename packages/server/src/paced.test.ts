/** Long replies wait for slow readers, and hold a bounded number of bytes in all. */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { test } from 'node:test'
import { getRequestListener } from '@hono/node-server'
import { paced, pacedBytes } from './paced.ts'

const length = 4 * 1_048_576
const until = async (isTrue: () => boolean): Promise<void> => {
  for (let tries = 0; !isTrue() && tries < 3_000; tries += 1) await new Promise((resolve) => setTimeout(resolve, 5))
  assert.ok(isTrue())
}

test('[E80] sixteen clients that read nothing hold no more than the bound, and are cut off; one that reads gets all', async () => {
  let slow = 0
  const pacing = { mostBytes: 8 * length, stallMs: 300, minBytes: 65_536 }
  const listener = getRequestListener(
    async (_, { outgoing }) =>
      paced(new Response(Buffer.alloc(length, 'x')), {
        pacing,
        onSlow: () => {
          slow += 1
        },
        destroy: () => void outgoing.destroy(),
      }),
    { overrideGlobalObjects: false },
  )
  const server = createServer((request, response) => void listener(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()))
  const { port } = server.address() as AddressInfo
  const stuck: Socket[] = []
  let most = 0
  for (let index = 0; index < 16; index += 1) {
    const socket = connect(port, '127.0.0.1').on('error', () => undefined)
    socket.pause()
    socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n')
    stuck.push(socket)
    await new Promise((resolve) => setTimeout(resolve, 5))
    most = Math.max(most, pacedBytes())
  }
  assert.ok(most <= pacing.mostBytes, `${most} bytes`)
  const answer = await fetch(`http://127.0.0.1:${port}/`)
  assert.equal(answer.headers.get('content-length'), String(length))
  assert.equal((await answer.arrayBuffer()).byteLength, length)
  await until(() => slow >= 16 && pacedBytes() === 0)
  for (const socket of stuck) socket.destroy()
  await new Promise<void>((resolve) => server.close(() => resolve()))
})
