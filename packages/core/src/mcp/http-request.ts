/** One HTTP request to an MCP server or to its token server: without redirects, without limits of time, and with word of whether it was sent. */
import { type IncomingMessage, Agent as PlainAgent, request as plainRequest } from 'node:http'
import { Agent as SecureAgent, request as secureRequest } from 'node:https'
import { McpError } from './trouble.ts'

/** Connections that requests share. */
export interface HttpPools {
  readonly plain: PlainAgent
  readonly secure: SecureAgent
}

/** A request. */
interface HttpSend {
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
  readonly signal: AbortSignal | null
}

/** How long a connection that nobody uses is kept: servers keep theirs longer. */
const keptMs = 4_000

/** Creates the connections of one set of servers. */
export function createPools(): HttpPools {
  const options = { keepAlive: true, timeout: keptMs, maxFreeSockets: 16 }
  return { plain: new PlainAgent(options), secure: new SecureAgent(options) }
}

/** Closes connections that nobody uses, and those in use. */
export function closePools({ plain, secure }: HttpPools): void {
  plain.destroy()
  secure.destroy()
}

/** Sends a request, and gives the head of its reply. Rejects with an `McpError`, or with the reason of its signal. */
export function sendHttp(url: URL, send: HttpSend, pools: HttpPools): Promise<IncomingMessage> {
  const { method, body, signal } = send
  const headers = {
    'user-agent': 'witan',
    ...send.headers,
    'accept-encoding': 'identity',
    ...(body === null ? {} : { 'content-length': String(Buffer.byteLength(body)) }),
  }
  const options = { method, headers }
  return new Promise((resolve, reject) => {
    const sent =
      url.protocol === 'https:'
        ? secureRequest(url, { ...options, agent: pools.secure })
        : plainRequest(url, { ...options, agent: pools.plain })
    let isConnected = false
    // A signal of Node's own also ends a connection that another request has by now.
    const abort = () => {
      reject(signal?.reason)
      sent.destroy()
    }
    if (signal?.aborted) abort()
    signal?.addEventListener('abort', abort, { once: true })
    sent.on('socket', (socket) => {
      if (!socket.connecting) isConnected = true
      else socket.once('encrypted' in socket ? 'secureConnect' : 'connect', () => (isConnected = true))
    })
    sent.on('response', (reply) => {
      // Whoever reads it gets the error, too.
      reply.on('error', () => {})
      resolve(reply)
    })
    sent.on('error', (error) => reject(brokenOff(error, isConnected)))
    sent.on('close', () => {
      signal?.removeEventListener('abort', abort)
      reject(new McpError('lost', 'closed the connection without an answer.'))
    })
    sent.end(body ?? undefined)
  })
}

function brokenOff(error: NodeJS.ErrnoException, isConnected: boolean): McpError {
  const code = error.code ?? 'unknown error'
  if (!isConnected) return new McpError('unavailable', `cannot be reached (${code}).`, true)
  return new McpError('lost', `broke the connection (${code}).`)
}

/** The text of a body; throws beyond a bound. */
export async function textOf(reply: IncomingMessage, mostBytes: number): Promise<Buffer> {
  const parts: Buffer[] = []
  let bytes = 0
  for await (const part of reply as AsyncIterable<Buffer>) {
    bytes += part.length
    if (bytes > mostBytes)
      throw new McpError(
        'protocol',
        `sent an answer of more than ${mostBytes >= 1024 * 1024 ? `${mostBytes / 1024 / 1024} MiB` : `${mostBytes / 1024} KiB`}.`,
      )
    parts.push(part)
  }
  return Buffer.concat(parts)
}
