/** One request to one server: address, token, retries, errors. */
import { isWitanError } from '@witan/protocol'
import { ClientError, invalidReply, refusal, unreachable } from './error.ts'
import { backoffMs, type Timing } from './timing.ts'

/** The address, token and timing of a transport. */
interface TransportOptions {
  readonly url: string
  readonly token?: string
  readonly fetch: typeof globalThis.fetch
  readonly timing: Timing
}

/** Everything about a request but method and path. */
export interface RequestOptions {
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal | undefined
  /** Set for a `POST` that changes nothing: nobody need remember its reply. */
  readonly onlyReads?: true
}

/** Sends requests to one server. Every `POST` that changes something carries an `Idempotency-Key`, so a repeat after a lost connection does nothing twice. */
export interface Transport {
  readonly timing: Timing
  /** The full URL of a path, for messages. */
  address(path: string): string
  /** The complete reply as JSON; null for an empty one. A `GET` or `POST` whose connection fails is sent up to three times. */
  json<Reply>(method: string, path: string, options?: RequestOptions): Promise<Reply>
  /** The reply as soon as its head arrives; throws an error reply. The caller reads the body; the request is not repeated. */
  open(method: string, path: string, options?: RequestOptions): Promise<Response>
  /** Aborts with `signal`, and when the client is closed. */
  untilClosed(signal?: AbortSignal): AbortSignal
  /** Aborts running requests and refuses later ones. */
  close(): void
}

/** How often one request is sent at most, when its connection fails. */
export const maxTries = 3

/** Makes the transport of one client. */
export function createTransport(options: TransportOptions): Transport {
  const base = parseBase(options.url)
  const closed = new AbortController()
  const untilClosed = (signal?: AbortSignal) => (signal ? AbortSignal.any([signal, closed.signal]) : closed.signal)
  const { fetch, timing, token } = options

  async function exchange(method: string, path: string, request: RequestOptions): Promise<Response> {
    const url = addressOf(base, path, request.query)
    const signal = untilClosed(request.signal)
    signal.throwIfAborted()
    const headers: Record<string, string> = { accept: 'application/json', ...request.headers }
    if (token !== undefined) headers.authorization = `Bearer ${token}`
    if (request.body !== undefined) headers['content-type'] = 'application/json'
    const body = request.body === undefined ? null : JSON.stringify(request.body)
    try {
      return await fetch(url, { method, headers, body, signal })
    } catch (error) {
      signal.throwIfAborted()
      throw unreachable(url, error)
    }
  }

  /** Reads the complete body, so that a connection lost halfway counts as a failed try. */
  async function once(method: string, path: string, request: RequestOptions): Promise<unknown> {
    const response = await exchange(method, path, request)
    const url = addressOf(base, path)
    let text: string
    try {
      text = await response.text()
    } catch (error) {
      untilClosed(request.signal).throwIfAborted()
      throw unreachable(url, error)
    }
    if (!response.ok) throw refusal(url, response, text)
    return text === '' ? null : parseReply(url, text)
  }

  async function json(method: string, path: string, request: RequestOptions = {}): Promise<unknown> {
    const keyed = method === 'POST' && request.onlyReads !== true ? withKey(request) : request
    const signal = untilClosed(request.signal)
    let failures = 0
    for (;;) {
      try {
        return await once(method, path, keyed)
      } catch (error) {
        if (failures > 0 && isInProgress(error)) {
          // An earlier try arrived and is still at work. The server ends that work, so this loop ends too.
          await timing.pause(retryAfterMs(error), signal)
          continue
        }
        failures += 1
        if (!isUnreachable(error) || failures === maxTries || !isRepeatable(method)) throw error
        await timing.pause(backoffMs(timing, failures), signal)
      }
    }
  }

  return {
    timing,
    address: (path) => addressOf(base, path),
    untilClosed,
    json: async <Reply>(method: string, path: string, request?: RequestOptions) =>
      (await json(method, path, request)) as Reply,
    open: async (method, path, request = {}) => {
      const response = await exchange(method, path, request)
      if (!response.ok) throw refusal(addressOf(base, path), response, await response.text().catch(() => ''))
      return response
    },
    close: () =>
      closed.abort(new ClientError('CLIENT_CLOSED', 'The client was closed.', { hint: 'Make a new client to go on.' })),
  }
}

/** An id as one segment of a path. */
export const segment = encodeURIComponent

/** The `If-Match` header of a revision; none without one. */
export function revisionHeader(ifMatch: number | undefined): Readonly<Record<string, string>> {
  return ifMatch === undefined ? {} : { 'if-match': `"${ifMatch}"` }
}

/** A conversation's id as one segment: `:` for its slash, because proxies are known to undo `%2F`. */
export function conversationSegment(id: string): string {
  return id.split('/').map(segment).join(':')
}

/** The header of a key that the caller chose; none without one. */
export function keyHeader(idempotencyKey: string | undefined): Readonly<Record<string, string>> {
  return idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }
}

/** The same request with a key of its own, unless it has one. */
export function withKey(request: RequestOptions): RequestOptions {
  const headers = { 'idempotency-key': newKey(), ...request.headers }
  return { ...request, headers }
}

/** True if the server is still at work on an earlier try of the same request. */
export function isInProgress(error: unknown): boolean {
  return isWitanError(error) && error.code === 'IN_PROGRESS'
}

/** True if no complete reply came, so that the same request may be sent again. */
export function isUnreachable(error: unknown): boolean {
  return error instanceof ClientError && error.code === 'SERVER_UNREACHABLE'
}

/** The pause that the server asked for; by default one second. */
export function retryAfterMs(error: unknown): number {
  const seconds = isWitanError(error) ? error.details.retryAfterSeconds : undefined
  return typeof seconds === 'number' ? seconds * 1000 : 1000
}

/** Parses a reply; throws `REPLY_INVALID` if it is not one of Witan. */
export function parseReply(url: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw invalidReply(url, 'the body is not JSON')
  }
}

/** `PUT` and `DELETE` have no key: a repeat of one that arrived would be refused. */
function isRepeatable(method: string): boolean {
  return method === 'GET' || method === 'POST'
}

/** `crypto.randomUUID` is missing on pages that came over plain HTTP. */
function newKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('')
}

function parseBase(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : null
  const isWeb = parsed?.protocol === 'http:' || parsed?.protocol === 'https:'
  if (!parsed || !isWeb || parsed.username !== '' || parsed.password !== '') {
    throw new ClientError('URL_INVALID', 'The address of the server must be an http or https URL without a password.', {
      hint: 'Give the address as "http://127.0.0.1:4747" and the token as `token`.',
    })
  }
  return `${parsed.origin}${parsed.pathname.replace(/\/+$/, '')}`
}

function addressOf(base: string, path: string, query: RequestOptions['query'] = {}): string {
  const given = Object.entries(query).filter((entry) => entry[1] !== undefined)
  const search = new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)])).toString()
  return search === '' ? `${base}${path}` : `${base}${path}?${search}`
}
