/** One request and its one reply, whatever it says: for rows that look at what a client is told while something is wrong. */
import { patienceMs } from './patience.ts'

/** What it was told. */
export interface Told {
  /** 0 where no reply came in time, or the line broke. */
  readonly status: number
  /** That of a problem; null otherwise. */
  readonly code: string | null
  readonly ms: number
}

/** Reads from a server, or with a body sends to it. Never throws. */
export async function probe(url: string, path: string, body?: unknown): Promise<Told> {
  const from = performance.now()
  const told = (status: number, code: string | null): Told => ({ status, code, ms: performance.now() - from })
  try {
    const request = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
    const headers = { 'content-type': 'application/json' }
    const response = await fetch(url + path, { ...request, headers, signal: AbortSignal.timeout(patienceMs) })
    const { code } = JSON.parse(await response.text()) as { readonly code?: unknown }
    return told(response.status, response.ok ? null : String(code))
  } catch {
    return told(0, null)
  }
}

/** Has what it asked for. */
export function isServed({ status }: Told): boolean {
  return status >= 200 && status < 300
}

/** Served, or told in the words of the table that the store is away. */
export function isTyped(told: Told): boolean {
  return isServed(told) || (told.status === 503 && told.code === 'STORE_UNAVAILABLE')
}
