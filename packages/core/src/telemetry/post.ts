/** Posts a body over HTTP with the client of Node: `fetch` takes three times its CPU, more than a run. It follows no redirect. */
import { type IncomingMessage, request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { systemClock } from '../identity/clock.ts'

/** A request. */
interface Posted {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array | string
}

/** An answer. */
export interface Answer {
  readonly status: number
  header(name: string): string | null
  /** Null if it is too long, comes too slowly or breaks off: it may be endless. Never rejects. */
  readonly body: Promise<Buffer | null>
}

/** How much of the body of an answer is read, and for how long. After its end the connection can be used again. */
const rest = { bytes: 65_536, ms: 1_000 }

/** Resolves once the head of the answer is there, before its body. Rejects with a network error, or when the signal aborts. */
export async function post(posted: Posted, signal: AbortSignal): Promise<Answer> {
  try {
    return await once(posted, signal)
  } catch (error) {
    // The server closed an idle connection at the moment of the request, which it has not seen.
    if (!(error instanceof StaleConnection) || signal.aborted) throw error
    return once(posted, signal)
  }
}

class StaleConnection extends Error {}

function once({ url, headers, body }: Posted, signal: AbortSignal): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const send = url.slice(0, 6).toLowerCase() === 'https:' ? httpsRequest : httpRequest
    const length = typeof body === 'string' ? Buffer.byteLength(body) : body.length
    const request = send(url, { method: 'POST', signal, headers: { ...headers, 'content-length': length } })
    request.once('response', (response) => {
      const header = (name: string) => {
        const value = response.headers[name]
        return typeof value === 'string' ? value : null
      }
      resolve({ status: response.statusCode ?? 0, header, body: bodyOf(response) })
    })
    request.on('error', (error: Error & { readonly code?: string }) => {
      reject(request.reusedSocket && error.code === 'ECONNRESET' ? new StaleConnection() : error)
    })
    request.end(body)
  })
}

function bodyOf(response: IncomingMessage): Promise<Buffer | null> {
  const stop = () => response.destroy()
  const cancel = systemClock.after(rest.ms, stop, { background: true })
  const parts: Buffer[] = []
  let bytes = 0
  response.on('data', (part: Buffer) => {
    bytes += part.length
    parts.push(part)
    if (bytes > rest.bytes) stop()
  })
  response.on('error', () => {})
  return new Promise((resolve) => {
    response.on('close', () => {
      cancel()
      resolve(response.complete && bytes <= rest.bytes ? Buffer.concat(parts) : null)
    })
  })
}
