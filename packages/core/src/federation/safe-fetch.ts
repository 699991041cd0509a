/**
 * The one way out to other servers: HTTPS to public addresses. The address is checked after the name is resolved, and the connection goes
 * to the address that was checked [D21]. Proxies of the environment are not used.
 */
import { lookup as systemLookup } from 'node:dns'
import { type IncomingMessage, request as plainRequest, Agent as PlainAgent } from 'node:http'
import { request as secureRequest, Agent as SecureAgent } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import { isWitanError, WitanError } from '@witan/protocol'
import { readJson } from '@witan/protocol/schemas'
import { type Clock, systemClock } from '../identity/clock.ts'
import { notPublic } from './public-address.ts'
import { type HttpRequest, type RemoteFetch, UnreachableError } from './transport.ts'

/** The addresses of a host. */
type Lookup = (host: string) => Promise<readonly { readonly address: string; readonly family: number }[]>

/** How other servers are reached. */
interface SafeFetchOptions {
  /** `federation.resolve`: for a host, or a host and a port, the URL whose origin is asked in its place. */
  readonly resolve?: Readonly<Record<string, string>>
  /** Default: the resolver of the machine. */
  readonly lookup?: Lookup
  readonly clock?: Clock
  /** How long one document may take. Default 5,000. */
  readonly timeoutMs?: number
}

/** A document of another server. */
interface Fetched {
  /** Where it came from, after a redirect. */
  readonly url: string
  readonly value: unknown
}

/** Reads documents of other servers. */
export interface SafeFetch {
  /**
   * Reads JSON of at most 64 KiB within 5 s, with at most one redirect, which passes the same checks. Tries three times within 10 s if the
   * request cannot have arrived. Throws `URL_NOT_PUBLIC`; `REMOTE_UNREACHABLE`; `REMOTE_CARD_INVALID` for another status, a longer
   * document, and what is no JSON.
   */
  readonly json: (url: string) => Promise<Fetched>
  /**
   * Sends a request and gives the reply as it comes, with any status and without following a redirect. Rejects with `URL_NOT_PUBLIC`, or with
   * an `UnreachableError`; the body may reject too.
   */
  readonly open: RemoteFetch
}

const maxBytes = 65_536
const triesMs = 10_000
/** Before the second and the third try. */
const pausesMs = [500, 1_500]

/** Creates the way out. It keeps no connection. */
export function createSafeFetch(options: SafeFetchOptions = {}): SafeFetch {
  const reach = createReach(options)
  const { clock = systemClock, timeoutMs = 5_000 } = options

  async function oneDocument(url: string): Promise<Fetched> {
    const limit = new AbortController()
    const cancel = clock.after(timeoutMs, () => limit.abort(), { background: true })
    try {
      const first = await get(reach(url), limit.signal)
      if (first.location === null) return { url, value: jsonOf(url, first.text) }
      const target = locationOf(url, first.location)
      const second = await get(reach(target), limit.signal)
      if (second.location !== null) throw unusable(url, 'it redirects more than once')
      return { url: target, value: jsonOf(target, second.text) }
    } catch (error) {
      if (isWitanError(error)) throw error
      throw limit.signal.aborted
        ? unreachable(url, `no answer within ${timeoutMs} ms`)
        : unreachable(url, causeOf(error), hasNotArrived(error))
    } finally {
      cancel()
    }
  }

  return {
    open: (url, request) => openReply(reach(url), request),
    async json(url) {
      const until = clock.now() + triesMs
      for (let tried = 1; ; tried += 1) {
        try {
          return await oneDocument(url)
        } catch (error) {
          const isLost = isWitanError(error) && error.code === 'REMOTE_UNREACHABLE' && error.details['again'] === true
          const pauseMs = pausesMs[tried - 1]
          if (!isLost || pauseMs === undefined || clock.now() + pauseMs > until) throw error
          await new Promise<void>((resolve) => clock.after(pauseMs, resolve))
        }
      }
    },
  }
}

/** One request that may go out: where to, and under which name. */
interface Reached {
  readonly url: URL
  /** Where the connection goes. */
  readonly origin: URL
  /** Null for an origin of `federation.resolve`, which may be private. */
  readonly lookup: LookupFunction | null
}

/** Decides where a request goes. Throws `URL_NOT_PUBLIC`. */
function createReach({ resolve = {}, lookup = resolveAll }: SafeFetchOptions): (url: string) => Reached {
  const origins = new Map(Object.entries(resolve).map(([host, url]) => [host.toLowerCase(), new URL(url)]))
  const isListed = (url: URL) => [...origins.values()].some(({ origin }) => origin === url.origin)
  const checked = checkedLookup(lookup)
  return (text) => {
    if (!URL.canParse(text)) throw notReached(text, 'is no URL')
    const url = new URL(text)
    if (url.username !== '' || url.password !== '') throw notReached(url.origin, 'has a user or a password')
    if (url.protocol !== 'https:' && url.protocol !== 'http:') throw notReached(text, 'is not HTTPS')
    const port = url.port === '' ? (url.protocol === 'https:' ? '443' : '80') : url.port
    const origin = origins.get(`${url.hostname}:${port}`) ?? origins.get(url.hostname)
    if (origin !== undefined) return { url, origin, lookup: null }
    if (isListed(url)) return { url, origin: url, lookup: null }
    if (url.protocol !== 'https:') throw notReached(text, 'is not HTTPS')
    const literal = url.hostname.replace(/^\[|\]$/g, '')
    // A connection to an address asks no resolver, so it is checked here.
    const why = isIP(literal) === 0 ? null : notPublic(literal)
    if (why !== null) throw notReached(text, `leads to ${literal} (${why})`)
    return { url, origin: url, lookup: checked }
  }
}

/** The look-up of one connection: it connects to what was checked. One private address among the answers refuses them all. */
function checkedLookup(lookup: Lookup): LookupFunction {
  return (host, options, done) => {
    lookup(host).then(
      (found) => {
        const wrong = found.find(({ address }) => notPublic(address) !== null)
        const [first] = found
        if (first === undefined) return done(new Error('it has no address'), '', 0)
        if (wrong !== undefined) {
          const why = `resolves to ${wrong.address} (${notPublic(wrong.address)})`
          const refusal: Error = notReached(`https://${host}`, why)
          return done(refusal, '', 0)
        }
        return options.all === true ? done(null, [...found]) : done(null, first.address, first.family)
      },
      (error: NodeJS.ErrnoException) => done(error, '', 0),
    )
  }
}

const resolveAll: Lookup = (host) =>
  new Promise((resolve, reject) => {
    systemLookup(host, { all: true, order: 'verbatim' }, (error, found) =>
      error === null ? resolve(found) : reject(error),
    )
  })

/** A reply: its text, or where it redirects to. */
interface Got {
  readonly text: string
  readonly location: string | null
}

/** Sends a request on a connection of its own. `connected` is called once that stands: from then on it may arrive. */
function send(
  { url, origin, lookup }: Reached,
  { method, headers, body, signal }: HttpRequest,
  connected: () => void = () => {},
): Promise<IncomingMessage> {
  const isSecure = origin.protocol === 'https:'
  const place = {
    host: origin.hostname.replace(/^\[|\]$/g, ''),
    port: origin.port,
    path: `${url.pathname}${url.search}`,
  }
  const own = { host: url.host, 'accept-encoding': 'identity', 'user-agent': 'witan' }
  const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
  const options = {
    ...{ ...place, method, signal, headers: { ...headers, ...own, ...length } },
    ...(lookup === null ? {} : { lookup }),
  }
  return new Promise<IncomingMessage>((resolve, reject) => {
    const servername = isIP(url.hostname.replace(/^\[|\]$/g, '')) === 0 ? { servername: url.hostname } : {}
    const sent = isSecure
      ? secureRequest({ ...options, ...servername, agent: new SecureAgent({ keepAlive: false }) }, resolve)
      : plainRequest({ ...options, agent: new PlainAgent({ keepAlive: false }) }, resolve)
    sent.on('error', reject)
    sent.on('socket', (socket) => socket.once(isSecure ? 'secureConnect' : 'connect', connected))
    sent.end(body)
  })
}

/** A reply as it comes. Its connection closes with its body. */
async function openReply(reached: Reached, request: HttpRequest): ReturnType<RemoteFetch> {
  let mayHaveArrived = false
  const connected = () => {
    mayHaveArrived = true
  }
  const reply = await send(reached, request, connected).catch((error: unknown): never => {
    if (isWitanError(error) || request.signal.aborted) throw error
    throw new UnreachableError(causeOf(error), mayHaveArrived, error)
  })
  const { statusCode: status = 0, headers } = reply
  const header = (name: string): string | null => {
    const value = headers[name]
    return typeof value === 'string' ? value : null
  }
  return { status, header, body: reply as AsyncIterable<Uint8Array> }
}

async function get(reached: Reached, signal: AbortSignal): Promise<Got> {
  const { url } = reached
  const reply = await send(reached, { method: 'GET', headers: { accept: 'application/json' }, signal })
  try {
    return await readReply(url.href, reply)
  } finally {
    reply.destroy()
  }
}

async function readReply(url: string, reply: IncomingMessage): Promise<Got> {
  const { statusCode: status = 0, headers } = reply
  if ([301, 302, 303, 307, 308].includes(status) && headers.location !== undefined)
    return { text: '', location: headers.location }
  if ([429, 502, 503].includes(status)) throw unreachable(url, `it answers with status ${status}`, true)
  if (status !== 200) throw unusable(url, `it answers with status ${status}`)
  if ((headers['content-encoding'] ?? 'identity') !== 'identity') throw unusable(url, 'it is compressed')
  const parts: Buffer[] = []
  let bytes = 0
  for await (const part of reply as AsyncIterable<Buffer>) {
    bytes += part.length
    if (bytes > maxBytes) throw unusable(url, `it has more than ${maxBytes} bytes`)
    parts.push(part)
  }
  return { text: Buffer.concat(parts).toString('utf8'), location: null }
}

function jsonOf(url: string, text: string): unknown {
  const read = readJson(text)
  if (read.ok) return read.value
  throw unusable(url, `it is no JSON that can be read: ${read.problem}`)
}

function locationOf(url: string, location: string): string {
  try {
    return new URL(location, url).href
  } catch {
    throw unusable(url, 'it redirects to what is no URL')
  }
}

const shown = (url: string) => url.replace(/[^\x21-\x7e]/g, '?').slice(0, 200)

function notReached(url: string, why: string): WitanError {
  const hint =
    'Only HTTPS to public addresses is reached; federation.resolve names exceptions for tests and private networks.'
  return new WitanError('URL_NOT_PUBLIC', `\`${shown(url)}\` ${why}.`, { hint })
}

function unreachable(url: string, why: string, again = false): WitanError {
  const hint = 'Look at the address, and whether that server runs; then try again.'
  return new WitanError('REMOTE_UNREACHABLE', `\`${shown(url)}\` cannot be reached: ${why}.`, {
    hint,
    details: { again },
  })
}

function unusable(url: string, why: string): WitanError {
  const hint = 'The operator of that server mends it.'
  return new WitanError('REMOTE_CARD_INVALID', `\`${shown(url)}\` cannot be used: ${why}.`, { hint })
}

/** True if no request can have arrived: there was no connection. */
function hasNotArrived(error: unknown): boolean {
  const { code = '' } = error as NodeJS.ErrnoException
  return ['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'EAI_AGAIN'].includes(code)
}

/** The words of Node for a broken connection, without what it says of this machine. */
function causeOf(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException
  return typeof code === 'string' ? code : 'the connection broke'
}
