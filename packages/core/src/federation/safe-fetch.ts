/**
 * The one way out to other servers: HTTPS to public addresses. The address is checked after the name is resolved, and the connection goes
 * to the address that was checked [D21]. Proxies of the environment are not used.
 */
import type { IncomingMessage } from 'node:http'
import { isWitanError } from '@witan/protocol'
import { readJson } from '@witan/protocol/schemas'
import { type Clock, systemClock } from '../identity/clock.ts'
import { bytesOf, createConnections } from './connections.ts'
import { unreachable, unusable } from './fetch-error.ts'
import { createReach, type ReachOptions } from './reach.ts'
import { type HttpRequest, type RemoteFetch, UnreachableError } from './transport.ts'

/** How other servers are reached. */
interface SafeFetchOptions extends ReachOptions {
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

/** Creates the way out. Connections that nobody uses are kept for four seconds. */
export function createSafeFetch(options: SafeFetchOptions = {}): SafeFetch {
  const reach = createReach(options)
  const { clock = systemClock, timeoutMs = 5_000 } = options
  const send = createConnections(clock)

  async function get(url: string, signal: AbortSignal): Promise<Got> {
    const request = { method: 'GET', headers: { accept: 'application/json' }, signal, isRepeatable: true } as const
    const reply = await send(reach(url), request)
    try {
      return await readReply(url, reply)
    } finally {
      reply.destroy()
    }
  }

  /** A reply as it comes. */
  async function open(url: string, request: HttpRequest): ReturnType<RemoteFetch> {
    let mayHaveArrived = false
    const connected = () => {
      mayHaveArrived = true
    }
    const reply = await send(reach(url), request, connected).catch((error: unknown): never => {
      if (isWitanError(error) || request.signal.aborted) throw error
      throw new UnreachableError(causeOf(error), mayHaveArrived, error)
    })
    const { statusCode: status = 0, headers } = reply
    const header = (name: string): string | null => {
      const value = headers[name]
      return typeof value === 'string' ? value : null
    }
    return { status, header, body: bytesOf(reply, clock) }
  }

  async function oneDocument(url: string): Promise<Fetched> {
    const limit = new AbortController()
    const cancel = clock.after(timeoutMs, () => limit.abort(), { background: true })
    try {
      const first = await get(url, limit.signal)
      if (first.location === null) return { url, value: jsonOf(url, first.text) }
      const target = locationOf(url, first.location)
      const second = await get(target, limit.signal)
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
    open,
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

/** A reply: its text, or where it redirects to. */
interface Got {
  readonly text: string
  readonly location: string | null
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
