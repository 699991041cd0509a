/** Posts a body over HTTP with the client of Node: `fetch` takes three times its CPU, more than a run. It follows no redirect. */
import { type IncomingMessage, request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { systemClock } from '../identity/clock.ts'

/** A request. */
export interface Posted {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array | string
}

/** The head of an answer. Its body is not read: it may be endless. */
export interface AnswerHead {
  readonly status: number
  header(name: string): string | null
}

/** How much of the body of an answer is read, and for how long, so that its connection can be used again. */
const rest = { bytes: 65_536, ms: 1_000 }

/** Resolves once the head of the answer is there. Rejects with a network error, or when the signal aborts. */
export async function post(posted: Posted, signal: AbortSignal): Promise<AnswerHead> {
  try {
    return await once(posted, signal)
  } catch (error) {
    // The server closed an idle connection at the moment of the request, which it has not seen.
    if (!(error instanceof StaleConnection) || signal.aborted) throw error
    return once(posted, signal)
  }
}

class StaleConnection extends Error {}

function once({ url, headers, body }: Posted, signal: AbortSignal): Promise<AnswerHead> {
  return new Promise((resolve, reject) => {
    const send = url.slice(0, 6).toLowerCase() === 'https:' ? httpsRequest : httpRequest
    const length = typeof body === 'string' ? Buffer.byteLength(body) : body.length
    const request = send(url, { method: 'POST', signal, headers: { ...headers, 'content-length': length } })
    request.once('response', (response) => {
      discard(response)
      const header = (name: string) => {
        const value = response.headers[name]
        return typeof value === 'string' ? value : null
      }
      resolve({ status: response.statusCode ?? 0, header })
    })
    request.on('error', (error: Error & { readonly code?: string }) => {
      reject(request.reusedSocket && error.code === 'ECONNRESET' ? new StaleConnection() : error)
    })
    request.end(body)
  })
}

function discard(response: IncomingMessage): void {
  const stop = () => response.destroy()
  const cancel = systemClock.after(rest.ms, stop, { background: true })
  let bytes = 0
  response.on('data', (part: Buffer) => {
    bytes += part.length
    if (bytes > rest.bytes) stop()
  })
  response.on('error', () => {})
  response.on('close', cancel)
}
