/** Requests over HTTP to what may be reached, and the connections that they use. */
import { type ClientRequest, type IncomingMessage, Agent as PlainAgent, request as plainRequest } from 'node:http'
import { Agent as SecureAgent, request as secureRequest } from 'node:https'
import { isIP } from 'node:net'
import type { Clock } from '../identity/clock.ts'
import type { Reached } from './reach.ts'
import type { HttpRequest } from './transport.ts'

/** Sends a request and gives the head of its reply. `connected` is called once there is a connection: from then on it may arrive. */
type Send = (reached: Reached, request: HttpRequest, connected?: () => void) => Promise<IncomingMessage>

/** How long a connection that nobody uses is kept: other servers keep theirs longer. And how many of one server. */
const keptMs = 4_000
const mostKept = 8

/**
 * Keeps connections that were used, for requests that may be repeated: one that was closed at that moment costs such a request nothing. Any other
 * request has a connection of its own, so that nobody must guess whether it has arrived.
 */
export function createConnections(clock: Clock): Send {
  const replyTo = (sent: ClientRequest, connected: () => void) => headOf(sent, connected, clock)
  const pools = poolsOf({ keepAlive: true, timeout: keptMs, maxFreeSockets: mostKept })
  const single = poolsOf({ keepAlive: false })
  return async (reached, request, connected = () => {}) => {
    if (!request.isRepeatable) return replyTo(requested(reached, request, single), connected)
    const sent = requested(reached, request, pools)
    return replyTo(sent, connected).catch((error: NodeJS.ErrnoException) => {
      if (!sent.reusedSocket || request.signal.aborted || !['ECONNRESET', 'EPIPE'].includes(error.code ?? ''))
        throw error
      return replyTo(requested(reached, request, single), connected)
    })
  }
}

interface Pools {
  readonly plain: PlainAgent
  readonly secure: SecureAgent
}

function poolsOf(options: ConstructorParameters<typeof PlainAgent>[0]): Pools {
  return { plain: new PlainAgent(options), secure: new SecureAgent(options) }
}

function requested({ url, origin, lookup }: Reached, request: HttpRequest, { plain, secure }: Pools): ClientRequest {
  const { method, headers, body, signal } = request
  const own = { host: url.host, 'accept-encoding': 'identity', 'user-agent': 'witan' }
  const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
  const options = {
    ...{ host: origin.hostname.replace(/^\[|\]$/g, ''), port: origin.port, path: `${url.pathname}${url.search}` },
    ...{ method, signal, headers: { ...headers, ...own, ...length } },
    ...(lookup === null ? {} : { lookup }),
  }
  const servername = isIP(url.hostname.replace(/^\[|\]$/g, '')) === 0 ? { servername: url.hostname } : {}
  const isSecure = origin.protocol === 'https:'
  const sent = isSecure
    ? secureRequest({ ...options, ...servername, agent: secure })
    : plainRequest({ ...options, agent: plain })
  return sent.end(body)
}

/** The most bytes before a reply, of hints and of nothing; they are counted so often. */
const mostBefore = 1024 * 1024
const countMs = 250

function headOf(sent: ClientRequest, connected: () => void, clock: Clock): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  sent.on('response', resolve)
  sent.on('error', reject)
  // A reply that is none, such as an upgrade that nobody has asked for, ends the connection without another word.
  sent.on('close', () => reject(new Error('it gave no reply')))
  sent.on('socket', (socket) => {
    if (sent.reusedSocket) connected()
    else socket.once('encrypted' in socket ? 'secureConnect' : 'connect', connected)
    const most = socket.bytesRead + mostBefore
    let cancel = () => {}
    const look = () => {
      if (socket.bytesRead > most) sent.destroy(new Error('it sends anything but a reply'))
      else cancel = clock.after(countMs, look, { background: true })
    }
    look()
    const done = () => cancel()
    promise.then(done, done)
  })
  return promise
}

/** What is left of a reply is waited for so long, and to so many bytes, so that its connection can be kept. */
const leftMs = 50
const leftBytes = 65_536

/** The bytes of a reply. A reader that leaves before its end closes the connection, unless that end comes at once. */
export async function* bytesOf(reply: IncomingMessage, clock: Clock): AsyncGenerator<Uint8Array, void, void> {
  try {
    yield* reply.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>
  } finally {
    if (!reply.readableEnded && !reply.destroyed) leave(reply, clock)
  }
}

function leave(reply: IncomingMessage, clock: Clock): void {
  let bytes = 0
  const close = () => reply.destroy()
  const cancel = clock.after(leftMs, close, { background: true })
  reply.on('error', () => {})
  reply.on('close', cancel)
  reply.on('data', (piece: Buffer) => {
    bytes += piece.length
    if (bytes > leftBytes) close()
  })
}
