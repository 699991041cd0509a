/** Whether the server answers this page, and what waits until it does again. */
import { useSyncExternalStore } from 'react'

/** `away`: no answer. `locked`: the server answers and asks who this is. */
type Connection = 'open' | 'away' | 'locked'

/** What the server lets in with: the token that it printed, an API key, or a token of its issuer. */
export type Credential = 'token' | 'key' | 'jwt'

const firstProbeMs = 300
const longestProbeMs = 3_000
const pauseMs = 250

let connection: Connection = 'open'
let wanted: Credential = 'token'
let probing = false
const listeners = new Set<() => void>()

/** The platform's `fetch`; what comes of each request tells how the connection is. */
export async function watchedFetch(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  try {
    const response = await fetch(input, init)
    if (response.status === 401) lock(response)
    else if (isOfServer(response)) put('open')
    else put('away')
    return response
  } catch (error) {
    if (init?.signal?.aborted !== true) put('away')
    throw error
  }
}

/** The server says which credential it takes. */
function lock({ headers }: Response): void {
  const realm = /realm="(\w+)"/.exec(headers.get('www-authenticate') ?? '')?.[1]
  wanted = realm === 'keys' ? 'key' : realm === 'jwt' ? 'jwt' : 'token'
  put('locked')
}

/** What a locked server asks for. */
export function wantedCredential(): Credential {
  return wanted
}

/** Whether the server itself made a response. A proxy answers 502, 503 or 504 for a server that is away. */
function isOfServer({ status, headers }: Response): boolean {
  return ![502, 503, 504].includes(status) || /json|event-stream/.test(headers.get('content-type') ?? '')
}

/** How the connection is now. */
export function useConnection(): Connection {
  return useSyncExternalStore(subscribe, () => connection)
}

/** Calls `listener` each time the server answers again. */
export function onReopened(listener: () => void): () => void {
  let before = connection
  return subscribe(() => {
    if (connection === 'open' && before !== 'open') listener()
    before = connection
  })
}

/** Whether what failed can succeed as it is, once the server answers again and knows this browser. */
export function comesBack(error: unknown): boolean {
  const code = typeof error === 'object' && error !== null ? (error as { readonly code?: unknown }).code : undefined
  return code === 'SERVER_UNREACHABLE' || code === 'UNAUTHENTICATED'
}

/** Does the work; if the server is away or locked, again once it is open, until it is done or refused. */
export async function untilAnswered<Result>(work: () => Promise<Result>, signal?: AbortSignal): Promise<Result> {
  for (;;) {
    try {
      return await work()
    } catch (error) {
      signal?.throwIfAborted()
      if (!comesBack(error)) throw error
      await whenOpen(signal)
    }
  }
}

/** Resolves when the connection is open, never at once. Rejects when the signal aborts. */
export async function whenOpen(signal?: AbortSignal): Promise<void> {
  await pause(pauseMs)
  while (connection !== 'open') {
    signal?.throwIfAborted()
    await pause(pauseMs)
  }
  signal?.throwIfAborted()
}

/** Signs this browser in with a token, a key, or the address that holds a token. False if the server does not take it. */
export async function unlock(text: string): Promise<boolean> {
  const given = /[?&]token=([^&#\s]+)/.exec(text)?.[1] ?? text.trim()
  // Any other character stands in no credential, and a header cannot hold it.
  if (!/^[\x21-\x7e]+$/.test(given)) return false
  const headers = { authorization: `Bearer ${given}` }
  const answer = await fetch('/sign-in', { method: 'POST', headers, cache: 'no-store' })
  if (answer.status === 401) return false
  if (!answer.ok) throw new Error(`The server answered ${answer.status}.`)
  await watchedFetch('/api/v1/principal', { cache: 'no-store' })
  return connection === 'open'
}

/** Whether the address of this page came with a token that the server did not take; takes it out of the address. */
export const wasRefused: boolean = takeToken()

function takeToken(): boolean {
  const url = new URL(window.location.href)
  if (!url.searchParams.has('token')) return false
  url.searchParams.delete('token')
  window.history.replaceState(window.history.state, '', url)
  return true
}

function put(next: Connection): void {
  // A probe says that the server answers, not that it knows this browser.
  if (connection === next) return
  connection = next
  for (const listener of listeners) listener()
  if (next === 'away') void probe()
}

/** Asks until the server answers. Then everything that waits continues. */
async function probe(): Promise<void> {
  if (probing) return
  probing = true
  for (let ms = firstProbeMs; connection === 'away'; ms = Math.min(longestProbeMs, ms * 1.5)) {
    await pause(ms)
    const answer = await fetch('/healthz', { cache: 'no-store' }).catch(() => null)
    if (answer?.ok === true && connection === 'away') put('open')
  }
  probing = false
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
