/** Servers that answer with anything but HTTP: each request ends soon, and costs little memory. */
import assert from 'node:assert/strict'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { createSafeFetch } from './safe-fetch.ts'
import { requestRemote } from './transport.ts'

type Play = (socket: Socket) => void

const ok = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n'
const chunked = `${ok}transfer-encoding: chunked\r\n\r\n`

/** Sends the head, and then the piece without end. */
const flood =
  (head: string, piece: string): Play =>
  (socket) => {
    const pieces = piece.repeat(Math.ceil(65_536 / piece.length))
    const more = (): void => {
      while (!socket.destroyed && socket.write(pieces));
      if (!socket.destroyed) socket.once('drain', more)
    }
    socket.write(head)
    more()
  }
const say =
  (text: string): Play =>
  (socket) =>
    socket.end(text)

/** What a server does with a request, which ends by itself. */
const plays: Readonly<Record<string, Play>> = {
  'closes the connection': (socket) => socket.destroy(),
  'ends it without a word': (socket) => socket.end(),
  'no HTTP': say('\0\x01 hello\r\n\r\n'),
  'a status line without end': flood('HTTP/1.1 200 ', 'x'),
  'a header without end': flood(`${ok}x-a: `, 'x'),
  'headers without end': flood(ok, 'x-a: b\r\n'),
  'hints without end': flood('', 'HTTP/1.1 103 Early Hints\r\nlink: a\r\n\r\n'),
  'empty lines without end': flood('', '\r\n'),
  'an upgrade': (socket) =>
    socket.write('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'),
  'two lengths': say(`${ok}content-length: 2\r\ncontent-length: 3\r\n\r\n{}`),
  'a negative length': say(`${ok}content-length: -1\r\n\r\n{}`),
  'a length that no number holds': say(`${ok}content-length: ${'9'.repeat(30)}\r\n\r\n{}`),
  'a length and chunks': say(`${ok}content-length: 2\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`),
  'a length that is more than comes': say(`${ok}content-length: 20\r\n\r\n{}`),
  'a chunk that no number holds': say(`${chunked}${'F'.repeat(20)}\r\n{}`),
  'an extension without end': flood(`${chunked}2;`, 'x'),
  'trailers without end': flood(`${chunked}0\r\n`, 'x-a: b\r\n'),
  'a body without end': flood(`${ok}\r\n`, ' '),
}

/** What never ends by itself: a document has its time, and a call its own. */
const silent: Readonly<Record<string, Play>> = {
  nothing: () => {},
  'a byte now and then': (socket) => {
    const drip = setInterval(() => socket.write('\r'), 20)
    socket.on('close', () => clearInterval(drip))
  },
  'a body of a byte now and then': (socket) => {
    socket.write(chunked)
    const drip = setInterval(() => socket.write('1\r\n \r\n'), 20)
    socket.on('close', () => clearInterval(drip))
  },
}

describe('a server on a raw socket sends', () => {
  let port = 0
  let play: Play = () => {}
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
    socket.once('data', () => play(socket))
  })
  before(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    port = (server.address() as AddressInfo).port
  })
  after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })

  const endpoint = {
    url: 'https://b.test/a2a',
    binding: 'JSONRPC',
    tenant: null,
    isStreaming: true,
    isIdempotent: false,
  } as const
  /** Asks for a document, or calls an agent, and takes at most so long. */
  const ways: Readonly<Record<string, (scheme: string, timeoutMs: number) => Promise<void>>> = {
    async 'a document'(scheme, timeoutMs) {
      const { json } = createSafeFetch({ resolve: { 'b.test': `${scheme}://127.0.0.1:${port}` }, timeoutMs })
      await assert.rejects(json('https://b.test/'), { code: /^REMOTE_(UNREACHABLE|CARD_INVALID)$/ })
    },
    async 'a call'(scheme, timeoutMs) {
      const { open } = createSafeFetch({ resolve: { 'b.test': `${scheme}://127.0.0.1:${port}` } })
      const signal = AbortSignal.timeout(timeoutMs)
      const request = { method: 'stream', params: {}, bearer: null, extensions: [], signal } as const
      const read = async () => {
        for await (const _ of requestRemote(open, endpoint, request)) assert.fail('a frame')
      }
      await assert.rejects(read, { name: /^(UnreachableError|TooMuchError|AbortError)$/ })
    },
  }

  for (const [way, ask] of Object.entries(ways)) {
    for (const [what, one] of Object.entries(plays))
      test(`[D21] ${what}: ${way} ends at once`, async () => {
        play = one
        const [before, began] = [process.memoryUsage.rss(), performance.now()]
        await ask('http', 4_000)
        assert.ok(performance.now() - began < 3_000, 'it ended by its time')
        assert.ok(process.memoryUsage.rss() - before < 200_000_000, 'it took more than 200 MB')
      })
    for (const [what, one] of Object.entries(silent))
      for (const scheme of ['http', 'https'])
        test(`[D21] ${what} over ${scheme}: ${way} ends by its time`, async () => {
          play = one
          await ask(scheme, 100)
        })
    test(`[D21] words in place of TLS: ${way} ends`, async () => {
      play = say(`${ok}\r\n{}`)
      await ask('https', 4_000)
    })
  }
})
