/** Sends A2A 1.0 requests to another server, in the binding that its card names. */
import { isWitanError } from '@witan/protocol'
import { readingJson } from '@witan/protocol/schemas'
import { runWithPauses } from '../identity/pausable.ts'
import { pause } from '../identity/turn.ts'
import { bodyText, eventData } from './event-stream.ts'
import { fieldOf, isRecord, type JsonRecord, recordsIn, textIn } from './record.ts'
import { TooMuchError } from './too-much.ts'

/** Where an agent on another server answers, as its card says. */
export interface RemoteEndpoint {
  readonly url: string
  readonly binding: 'JSONRPC' | 'HTTP+JSON'
  readonly tenant: string | null
  readonly isStreaming: boolean
  /** Whether a message that is sent again gives the same task. */
  readonly isIdempotent: boolean
}

/** A request over HTTP. */
export interface HttpRequest {
  readonly method: 'GET' | 'POST'
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  readonly signal: AbortSignal
  /** Whether it does no harm if it arrives twice. */
  readonly isRepeatable: boolean
}

/** The answer to a request over HTTP. */
interface HttpReply {
  readonly status: number
  header(name: string): string | null
  readonly body: AsyncIterable<Uint8Array>
}

/** Sends a request to another server. Rejects with an `UnreachableError`. */
export type RemoteFetch = (url: string, request: HttpRequest) => Promise<HttpReply>

/** The other server could not be reached, or the connection broke. */
export class UnreachableError extends Error {
  /** False if the request cannot have got there. */
  readonly mayHaveArrived: boolean

  constructor(message: string, mayHaveArrived: boolean, cause?: unknown) {
    super(message, { cause })
    this.name = 'UnreachableError'
    this.mayHaveArrived = mayHaveArrived
  }
}

/** The other server refused a request, in words of its own. */
export class RefusedError extends Error {
  /** The code of JSON-RPC, or the status of HTTP. */
  readonly code: number
  /** How A2A names the refusal; null if it does not say. */
  readonly reason: string | null

  constructor({
    code,
    reason,
    message,
  }: { readonly code: number; readonly reason: string | null; readonly message: string }) {
    super(message)
    this.name = 'RefusedError'
    this.code = code
    this.reason = reason
  }
}

/** Whether the other server refused a request, or the request did not get there. Anything else broke here. */
export function isRequestError(error: unknown): error is Error {
  if (error instanceof RefusedError || error instanceof UnreachableError) return true
  return isWitanError(error) && error.code === 'URL_NOT_PUBLIC'
}

const methods = {
  send: { rpc: 'SendMessage', http: 'POST', path: () => 'message:send' },
  stream: { rpc: 'SendStreamingMessage', http: 'POST', path: () => 'message:stream' },
  get: { rpc: 'GetTask', http: 'GET', path: (id: string) => `tasks/${encodeURIComponent(id)}` },
  cancel: { rpc: 'CancelTask', http: 'POST', path: (id: string) => `tasks/${encodeURIComponent(id)}:cancel` },
  subscribe: {
    rpc: 'SubscribeToTask',
    http: 'POST',
    path: (id: string) => `tasks/${encodeURIComponent(id)}:subscribe`,
  },
} as const

/** One request of A2A. */
export interface A2aRequest {
  readonly method: keyof typeof methods
  /** Of a method that names a task: `{ id }`. */
  readonly params: Readonly<Record<string, unknown>>
  /** The credential; null for none. */
  readonly bearer: string | null
  /** The extensions that it uses. */
  readonly extensions: readonly string[]
  readonly signal: AbortSignal
}

/** The most bytes of a reply or of a frame. */
const mostBytes = 32 * 1024 * 1024

/** The frames of a reply: one, unless it is a stream. Throws `UnreachableError`, `RefusedError`, `TooMuchError`. */
export async function* requestRemote(
  fetch: RemoteFetch,
  endpoint: RemoteEndpoint,
  request: A2aRequest,
): AsyncGenerator<JsonRecord, void, void> {
  const reply = await fetch(addressOf(endpoint, request), httpRequest(endpoint, request))
  const isStream = reply.header('content-type')?.startsWith('text/event-stream') === true
  try {
    if (!isStream) {
      const text = await bodyText(reply.body, mostBytes)
      await pause()
      return yield await resultIn(endpoint, reply.status, text)
    }
    for await (const data of eventData(reply.body, mostBytes)) {
      // Putting a long text together has taken its turn.
      await pause()
      yield await resultIn(endpoint, reply.status, data)
    }
  } catch (error) {
    if (error instanceof TooMuchError || isRequestError(error)) throw error
    throw new UnreachableError('the connection broke', true, error)
  }
}

function addressOf({ url, binding, tenant }: RemoteEndpoint, { method, params }: A2aRequest): string {
  if (binding === 'JSONRPC') return url
  const base = url.endsWith('/') ? url.slice(0, -1) : url
  const place = tenant === null ? '' : `/${encodeURIComponent(tenant)}`
  return `${base}${place}/${methods[method].path(String(params['id'] ?? ''))}`
}

function httpRequest({ binding, tenant, isIdempotent }: RemoteEndpoint, request: A2aRequest): HttpRequest {
  const { method, params, bearer, extensions, signal } = request
  const isRepeatable = isIdempotent || (method !== 'send' && method !== 'stream')
  const { rpc, http } = methods[method]
  const headers: Record<string, string> = {
    'a2a-version': '1.0',
    accept: method === 'stream' || method === 'subscribe' ? 'text/event-stream' : 'application/json',
    'content-type': binding === 'JSONRPC' ? 'application/json' : 'application/a2a+json',
  }
  if (bearer !== null) headers['authorization'] = `Bearer ${bearer}`
  if (extensions.length > 0) headers['a2a-extensions'] = extensions.join(', ')
  const placed = tenant === null ? params : { ...params, tenant }
  if (binding === 'JSONRPC') {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: rpc, params: placed })
    return { method: 'POST', headers, body, signal, isRepeatable }
  }
  if (http === 'GET') return { method: 'GET', headers, signal, isRepeatable }
  return { method: 'POST', headers, body: JSON.stringify('id' in params ? {} : params), signal, isRepeatable }
}

async function resultIn({ binding }: RemoteEndpoint, status: number, text: string): Promise<JsonRecord> {
  const read = await runWithPauses(readingJson(text))
  const value = read.ok ? read.value : null
  if (!isRecord(value)) throw refusal(status, null, `it answered ${status} with something that is not A2A`)
  const error = fieldOf(value, 'error')
  if (isRecord(error)) throw errorIn(error, status)
  if (binding === 'JSONRPC') {
    const result = fieldOf(value, 'result')
    if (isRecord(result)) return result
    throw refusal(status, null, `it answered ${status}${problemIn(value) || ' without a result'}`)
  }
  if (status < 200 || status > 299) throw refusal(status, null, `it answered ${status}${problemIn(value)}`)
  return value
}

/** What a refusal below A2A says of itself, such as that of a credential: the words of `application/problem+json`. */
function problemIn(value: JsonRecord): string {
  const words = textIn(value, 'detail') ?? textIn(value, 'title')
  return words === undefined ? '' : `: ${words}`
}

function errorIn(error: JsonRecord, status: number): RefusedError {
  const code = fieldOf(error, 'code')
  const infos = [...recordsIn(error, 'data'), ...recordsIn(error, 'details')]
  const reason = infos.map((info) => textIn(info, 'reason')).find((one) => one !== undefined)
  const words = textIn(error, 'message') ?? 'it refused the request'
  return refusal(typeof code === 'number' ? code : status, reason ?? null, words)
}

function refusal(code: number, reason: string | null, message: string): RefusedError {
  return new RefusedError({ code, reason, message: message.slice(0, 1000) })
}
