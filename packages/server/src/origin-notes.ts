/** Warnings for whoever runs the server: a page of an origin that is not listed has asked the API, and its browser shows it nothing. */
import { type HostPolicy, refusedOrigin } from './host.ts'
import type { Log } from './log.ts'

/** Anybody can send an origin: after so many, new ones are not logged. */
const mostOrigins = 20
const longestOrigin = 200

/** Returns a function that logs each refused origin once, also that of a preflight request, which no route answers. */
export function createOriginNotes(log: Log, policy: HostPolicy): (request: Request) => void {
  const noted = new Set<string>()
  return (request) => {
    if (noted.size > mostOrigins) return
    const origin = refusedOrigin(request, policy)?.slice(0, longestOrigin) ?? null
    if (origin === null || noted.has(origin)) return
    noted.add(origin)
    if (noted.size > mostOrigins) return log('warn', 'more origins were refused; they are not logged')
    log('warn', 'an origin was refused', {
      origin,
      hint: 'If its pages may call this server, add it to server.allowedOrigins.',
    })
  }
}
