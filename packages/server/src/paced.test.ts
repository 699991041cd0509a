/** Long replies wait for slow readers, and hold a bounded number of bytes in all. */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { test } from 'node:test'
import { getRequestListener } from '@hono/node-server'
import { type Body, paced } from './paced.ts'
import { unreadBytes } from './unread.ts'

/** Far more than the buffers of the two sockets: what these take of an unread reply counts as taken, and on Linux they may take 4 MB. */
const length = 16 * 1_048_576
const whole = Buffer.alloc(length, 'x')
const until = async (isTrue: () => boolean): Promise<void> => {
  for (let tries = 0; !isTrue() && tries < 3_000; tries += 1) await new Promise((resolve) => setTimeout(resolve, 5))
  assert.ok(isTrue())
}

/** Bodies that sixteen readers do not read: what one of them holds, at most. */
const bodies: Readonly<Record<string, { readonly body: () => Body; readonly each: number }>> = {
  'a complete one': { body: () => whole, each: length },
  'one in long chunks': { body: () => chunks(4, length / 4), each: length / 4 },
  'one in short chunks': { body: () => chunks(256, 65_536), each: 65_536 },
}

async function* chunks(count: number, bytes: number): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  for (let index = 0; index < count; index += 1) {
    await new Promise((resolve) => setImmediate(resolve))
    yield Buffer.alloc(bytes, 'x')
  }
}

for (const [name, { body, each }] of Object.entries(bodies))
  test(`[E80] ${name}: sixteen clients that read nothing hold no more than the bound, and are cut off; one that reads gets all`, async () => {
    const ends: string[] = []
    const pacing = { mostBytes: 8 * each, stallMs: 300, minBytes: 65_536 }
    const listener = getRequestListener(
      async (_, { outgoing }) =>
        new Response(paced(body(), { pacing, onEnd: (end) => ends.push(end), destroy: () => void outgoing.destroy() })),
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
      most = Math.max(most, unreadBytes())
    }
    assert.ok(most <= pacing.mostBytes, `${most} bytes`)
    const answer = await fetch(`http://127.0.0.1:${port}/`)
    assert.equal((await answer.arrayBuffer()).byteLength % length, 0)
    await until(() => ends.filter((end) => end === 'slow').length >= 16 && unreadBytes() === 0)
    assert.ok(ends.includes('done'))
    for (const socket of stuck) socket.destroy()
    await new Promise<void>((resolve) => server.close(() => resolve()))
  })

test('a body that fails cuts its reply short and reports the error; a reader that leaves is no error', async () => {
  const ends: unknown[] = []
  const destroy = (): void => void ends.push('destroyed')
  const onEnd = (end: string, error?: unknown): void => void ends.push([end, error])
  async function* failing(): AsyncGenerator<Uint8Array<ArrayBuffer>> {
    yield Buffer.from('begun')
    throw new Error('broken')
  }
  await assert.rejects(new Response(paced(failing(), { destroy, onEnd })).text(), /broken/)
  await paced(chunks(4, 100), { destroy, onEnd }).cancel()
  assert.deepEqual(ends, [
    ['failed', new Error('broken')],
    ['gone', undefined],
  ])
  assert.equal(unreadBytes(), 0)
})

test('a slow source is no slow reader', async () => {
  async function* late(): AsyncGenerator<Uint8Array<ArrayBuffer>> {
    for (let index = 0; index < 3; index += 1) {
      await new Promise((resolve) => setTimeout(resolve, 60))
      yield Buffer.from('x')
    }
  }
  const pacing = { mostBytes: 100, stallMs: 20, minBytes: 65_536 }
  const options = { pacing, destroy: () => assert.fail('cut'), onEnd: () => undefined }
  assert.equal(await new Response(paced(late(), options)).text(), 'xxx')
})
