/** The turnstile: turns stay short however many requests arrive at once, nothing is lost, and the order is kept. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { createTurnstile, type TurnstileLimits } from './turnstile.ts'

const limits: TurnstileLimits = { turnMs: 10, requests: 20 }

interface Place {
  /** Opens connections. */
  open(count: number): Promise<readonly Socket[]>
  /** What began in each turn of the loop, and how many requests arrived in it. */
  /** How often a connection was no longer read. */
  readonly holds: () => number
  readonly turns: { readonly begun: string[]; arrived: number }[]
}

/** A server on which each request takes `costMs` of a clock that moves for nothing else. */
async function place(context: TestContext, { costMs = 1 } = {}): Promise<Place> {
  const turns: { readonly begun: string[]; arrived: number }[] = []
  // Asks for its next immediate before the turnstile does, so each turn of the loop begins here.
  let isOver = false
  const tick = () => {
    if (turns.at(-1)?.arrived !== 0 || turns.at(-1)?.begun.length !== 0) turns.push({ begun: [], arrived: 0 })
    if (!isOver) setImmediate(tick)
  }
  const turn = () => turns.at(-1) as (typeof turns)[number]
  tick()
  let ms = 0
  const server = createServer((request, response) => {
    turn().arrived += 1
    turnstile.admit(() => {
      ms += costMs
      turn().begun.push(request.url ?? '')
      let bytes = 0
      request.on('data', (chunk: Buffer) => {
        bytes += chunk.length
      })
      request.on('end', () => response.end(`${request.url}${bytes === 0 ? '' : bytes}!`))
    })
  })
  const turnstile = createTurnstile(server, { limits, now: () => ms })
  let holds = 0
  server.on('connection', (socket: Socket) => socket.on('pause', () => (holds += 1)))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const sockets: Socket[] = []
  context.after(() => {
    isOver = true
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const open = async (count: number) => {
    const made = Array.from({ length: count }, () => connect(port, '127.0.0.1'))
    sockets.push(...made)
    await Promise.all(made.map((socket) => once(socket, 'connect')))
    while ((await connections(server)) < sockets.length) await nextTurn()
    return made
  }
  return { open, turns, holds: () => holds }
}

const connections = (server: Server): Promise<number> =>
  new Promise((resolve) => server.getConnections((_, count) => resolve(count)))
const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** Waits for this number of answers on the connection, and returns their bodies. */
function answers(socket: Socket, count: number): Promise<readonly string[]> {
  return new Promise((resolve) => {
    let text = ''
    socket.on('data', (chunk) => {
      text += chunk
      const found = [...text.matchAll(/\r\n\r\n(\/[\w-]+)!/g)].map(([, body]) => body ?? '')
      if (found.length === count) resolve(found)
    })
  })
}

const request = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`

test('of many requests that arrive at once each turn takes in a few, and all are answered, again and again', async (context) => {
  const { open, turns, holds } = await place(context)
  const sockets = await open(300)
  for (const round of ['one', 'two']) {
    turns.splice(0)
    await nextTurn()
    const sent = sockets.map((_, at) => `/${round}-${at}`)
    const told = Promise.all(sockets.map((socket) => answers(socket, 1)))
    for (const [at, socket] of sockets.entries()) socket.write(request(sent[at] ?? ''))
    assert.deepEqual((await told).flat(), sent)
    for (const socket of sockets) socket.removeAllListeners('data')
    const most = (of: (turn: (typeof turns)[number]) => number) => Math.max(...turns.map(of))
    assert.ok(
      most(({ begun }) => begun.length) <= limits.turnMs,
      `${most(({ begun }) => begun.length)} began in a turn`,
    )
    // One beyond those of a full turn shows that it is full.
    assert.ok(most(({ arrived }) => arrived) <= limits.requests + 1, `${most(({ arrived }) => arrived)} arrived`)
    assert.ok(turns.length >= 300 / limits.turnMs, `${turns.length} turns`)
  }
  assert.ok(holds() <= 3 * 600, `${holds()} times a connection was held`)
})

test('requests of one connection that arrive together keep their order', async (context) => {
  const { open, turns } = await place(context)
  const [socket] = (await open(1)) as [Socket]
  const sent = Array.from({ length: 45 }, (_, at) => `/in-order-${at}`)
  const told = answers(socket, sent.length)
  socket.write(sent.map(request).join(''))
  assert.deepEqual(await told, sent)
  assert.deepEqual(
    turns.flatMap(({ begun }) => begun),
    sent,
  )
  assert.ok(turns.length >= 5, `${turns.length} turns`)
})

test('requests that show only later what they cost are counted', async (context) => {
  const { open, turns } = await place(context, { costMs: 0 })
  const [socket] = (await open(1)) as [Socket]
  const told = answers(socket, 45)
  socket.write(request('/free').repeat(45))
  await told
  assert.deepEqual(
    turns.map(({ begun }) => begun.length).filter((begun) => begun > 0),
    [20, 20, 5],
  )
})

test('who hangs up while waiting holds up nobody', async (context) => {
  const { open, turns } = await place(context)
  const sockets = await open(60)
  const stays = sockets.filter((_, at) => at % 2 === 1)
  const told = Promise.all(stays.map((socket) => answers(socket, 1)))
  for (const [at, socket] of sockets.entries()) socket.write(request(`/${at % 2 === 0 ? 'goes' : 'stays'}`))
  for (const [at, socket] of sockets.entries()) if (at % 2 === 0) socket.resetAndDestroy()
  await told
  const begun = turns.flatMap((turn) => turn.begun)
  assert.equal(begun.filter((path) => path === '/stays').length, stays.length)
})

test('a few requests hold no connection', async (context) => {
  const { open, turns, holds } = await place(context)
  const sockets = await open(8)
  const told = Promise.all(sockets.map((socket) => answers(socket, 1)))
  for (const socket of sockets) socket.write(request('/few'))
  await told
  assert.deepEqual([holds(), turns.flatMap(({ begun }) => begun).length], [0, 8])
})

test('large bodies that arrive at once come whole, also where their connection was held in between', async (context) => {
  const { open, holds } = await place(context)
  const sockets = await open(60)
  const told = Promise.all(sockets.map((socket) => answers(socket, 1)))
  const body = 'x'.repeat(300_000)
  for (const socket of sockets)
    socket.write(`POST /b HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`)
  assert.deepEqual((await told).flat(), Array(60).fill('/b300000'))
  assert.ok(holds() > 0)
})
