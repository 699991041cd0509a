/** An MCP server over HTTP: the library's transport, with a `fetch` that bounds, checks and signs what passes. */
import type { IncomingMessage } from 'node:http'
import type { JSONRPCMessage, StreamableHTTPClientTransport, Transport } from '@modelcontextprotocol/client'
import { bytesText } from '../identity/json-pieces.ts'
import { isTurnSpent, nextTurn } from '../identity/turn.ts'
import { frameText, framesIn } from './frames.ts'
import { type HttpPools, sendHttp, textOf } from './http-request.ts'
import { createInbox, type Inbox } from './inbox.ts'
import { maxAnswerBytes, readMessages } from './read-message.ts'
import type { Sdk } from './sdk.ts'
import type { Tokens } from './token.ts'
import { McpError } from './trouble.ts'
import { disconnected, type Wire, type WireOf, within } from './wire.ts'

/** Where a server is, and what its requests carry. */
interface HttpOf extends WireOf {
  readonly sdk: Sdk
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly tokens: Tokens | null
  readonly pools: HttpPools
}

const mostErrorBytes = 65_536
/** How long the end of a session may take, and how long a cancelled request stays open after the server was told. */
const partingMs = 1_000
/** What a request says of itself, whatever a configuration says. */
const unset = new Set(['host', 'content-length', 'transfer-encoding', 'connection', 'upgrade', 'te', 'trailer'])

/** Creates a wire over HTTP. */
export function createHttpWire(of: HttpOf): Wire {
  let ended: McpError | null = null
  let closing: Promise<void> | null = null
  const inbox = createInbox({
    log: of.log,
    listChanged: of.listChanged,
    answer: (message) => void raw.send(message).catch(() => {}),
  })
  const finish = (reason: McpError): void => {
    if (ended !== null) return
    ended = reason
    closing = part(raw, of)
    wire.onclose?.()
  }
  const raw = new of.sdk.StreamableHTTPClientTransport(of.url, {
    fetch: (url, init) => fetchFor(of, { url: new URL(url), init: init ?? {} }, { inbox, end: finish }),
  })
  const requests = new Map<string | number, AbortController>()
  const wire: Wire & { readonly hasPerRequestStream: true } = {
    hasPerRequestStream: true,
    inbox,
    get ended() {
      return ended
    },
    get sessionId() {
      return raw.sessionId as string
    },
    setProtocolVersion: (version) => raw.setProtocolVersion(version),
    async start() {
      raw.onmessage = (message) => deliver(wire, message)
      raw.onerror = (error) => wire.onerror?.(error)
      await raw.start()
    },
    send: (message, options) => sendOver(raw, { wire, requests, clock: of.clock }, { message, options }),
    end: finish,
    async close() {
      finish(disconnected)
      await closing
    },
  }
  return wire
}

/** Most messages were looked at on their way to the library; an answer in the body of an error was not. */
function deliver(wire: Wire, message: JSONRPCMessage): void {
  const isAnswer = !('method' in message) && message.id !== undefined && wire.inbox.isOpen(message.id)
  const passed = isAnswer ? wire.inbox.arrived({ value: message, length: 0 }) : message
  if (passed !== null) wire.onmessage?.(passed)
}

interface Outgoing {
  readonly message: JSONRPCMessage
  readonly options: Parameters<Transport['send']>[1]
}

/** Sends a message. A request whose stream ends without an answer gets one that says so; one that was cancelled is closed. */
async function sendOver(
  raw: StreamableHTTPClientTransport,
  {
    wire,
    requests,
    clock,
  }: { readonly wire: Wire; readonly requests: Map<string | number, AbortController>; readonly clock: WireOf['clock'] },
  { message, options }: Outgoing,
): Promise<void> {
  if (wire.ended !== null) throw new McpError('unavailable', 'is not connected.', true)
  const sent = wire.inbox.sending(message)
  if (!('method' in sent) || !('id' in sent)) {
    const cancelled = 'method' in sent && sent.method === 'notifications/cancelled' ? sent.params?.['requestId'] : null
    await within(clock, partingMs, raw.send(sent))
    if (cancelled !== null) requests.get(cancelled as string | number)?.abort()
    return
  }
  const { id } = sent
  const own = new AbortController()
  requests.set(id, own)
  const given = options?.requestSignal
  const onRequestStreamEnd = () => {
    requests.delete(id)
    const broken = wire.inbox.broken(id)
    options?.onRequestStreamEnd?.()
    if (broken !== null && options?.onRequestStreamEnd === undefined) wire.onmessage?.(broken)
  }
  const requestSignal = given === undefined ? own.signal : AbortSignal.any([given, own.signal])
  try {
    const headers = options?.headers
    await raw.send(sent, { requestSignal, onRequestStreamEnd, ...(headers === undefined ? {} : { headers }) })
  } catch (error) {
    requests.delete(id)
    throw error
  }
}

/** Tells the server that a session of 2025 is over, and closes what is open. */
async function part(raw: StreamableHTTPClientTransport, { clock }: HttpOf): Promise<void> {
  if (raw.sessionId !== undefined) await within(clock, partingMs, raw.terminateSession())
  await raw.close().catch(() => {})
}

interface Asked {
  readonly url: URL
  readonly init: RequestInit
}

interface Ends {
  readonly inbox: Inbox
  end(reason: McpError): void
}

async function fetchFor(of: HttpOf, asked: Asked, ends: Ends): Promise<Response> {
  const reply = await signedReply(of, asked)
  const status = reply.statusCode ?? 0
  const type = (reply.headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase()
  const headers = new Headers()
  for (const name of ['content-type', 'mcp-session-id', 'www-authenticate', 'retry-after']) {
    const value = reply.headers[name]
    if (typeof value === 'string') headers.set(name, value)
  }
  try {
    if (status >= 300 && status < 400) {
      reply.destroy()
      return redirectWithin(asked.url, status, reply.headers.location)
    }
    if (status < 200 || status > 299) {
      const text = (await textOf(reply, mostErrorBytes)).toString('utf8')
      return new Response(text, { status: status >= 400 && status <= 599 ? status : 500, headers })
    }
    if (type === 'text/event-stream') return new Response(bodyOf(reply, ends), { status, headers })
    if (type === 'application/json' && status !== 202) return Response.json(await jsonOf(reply, ends), { headers })
    await textOf(reply, mostErrorBytes)
    return new Response(null, { status, headers })
  } catch (error) {
    if (error instanceof McpError && error.reason === 'protocol') ends.end(error)
    throw error
  }
}

/** The library follows a redirect, if the method stays: it may only lead to the same origin. */
function redirectWithin(from: URL, status: number, location: string | undefined): Response {
  const target = location === undefined ? null : URL.parse(location, from.href)
  if (target === null || target.origin !== from.origin)
    throw new McpError('protocol', 'redirects to another place, which is not followed.')
  return new Response(null, { status, headers: { location: target.href } })
}

/** The reply to a request with its headers, and with a token if there are any. A refused token is renewed once. */
async function signedReply(of: HttpOf, { url, init }: Asked): Promise<IncomingMessage> {
  const own: Record<string, string> = {}
  for (const [name, value] of Object.entries(of.headers))
    if (!unset.has(name.toLowerCase())) own[name.toLowerCase()] = value
  new Headers(init.headers).forEach((value, name) => {
    own[name] = value
  })
  const body = typeof init.body === 'string' ? init.body : null
  const request = { method: init.method ?? 'GET', body, signal: init.signal ?? null }
  if (of.tokens === null) return sendHttp(url, { ...request, headers: own }, of.pools)
  const token = await of.tokens.get()
  const first = await sendHttp(url, { ...request, headers: signed(own, token) }, of.pools)
  if (first.statusCode !== 401) return first
  first.resume()
  of.tokens.refused(token)
  return sendHttp(url, { ...request, headers: signed(own, await of.tokens.get()) }, of.pools)
}

function signed(headers: Readonly<Record<string, string>>, token: string): Readonly<Record<string, string>> {
  return { ...headers, authorization: `Bearer ${token}` }
}

async function jsonOf(reply: IncomingMessage, { inbox }: Ends): Promise<readonly JSONRPCMessage[]> {
  const read = await readMessages(await bytesText(await textOf(reply, maxAnswerBytes)))
  if (read === null) throw new McpError('protocol', 'answered with something that is no JSON.')
  const passed = read.map((each) => inbox.arrived(each)).filter((each) => each !== null)
  if (passed.length === 0) throw new McpError('protocol', 'answered something else than it was asked.')
  return passed
}

/** The events of a reply, with small messages in the place of large ones. */
function bodyOf(reply: IncomingMessage, { inbox, end }: Ends): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  async function* written(): AsyncGenerator<Uint8Array> {
    for await (const frame of framesIn(reply as AsyncIterable<Buffer>)) {
      if (isTurnSpent()) await nextTurn()
      const isMessage = frame.event === null || frame.event === 'message'
      const read = frame.data === null || frame.data === '' || !isMessage ? [] : await readMessages(frame.data)
      const passed = (read ?? []).map((each) => inbox.arrived(each)).filter((each) => each !== null)
      const texts = passed.map((each) => JSON.stringify(each))
      for (const text of texts.length === 0 ? [''] : texts) yield encoder.encode(frameText(frame, text))
    }
  }
  const source = written()
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { value, done } = await source.next()
        if (done === true) controller.close()
        else controller.enqueue(value)
      } catch (error) {
        if (error instanceof McpError && error.reason === 'protocol') end(error)
        controller.error(error)
      }
    },
    cancel() {
      reply.destroy()
    },
  })
}
