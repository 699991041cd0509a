/** Who may speak to a local server: whoever has the token of this start, or, in mode `none`, every process of this machine. */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { WitanError } from '@witan/protocol'
import { isLoopback } from './host.ts'

/** The modes that exist. `keys` and `jwt` come with servers that several people share. */
export const authModes = ['local', 'none'] as const
export type AuthMode = (typeof authModes)[number]

/** The door. `token` is null where none is needed. */
export interface Auth {
  readonly mode: AuthMode
  readonly token: string | null
  /** Throws `UNAUTHENTICATED` without the token (header) or the cookie it was exchanged for. */
  check(request: Request): void
  /** For a page asked for with `?token=…`: the redirect that sets the cookie; null without one. Throws `UNAUTHENTICATED` for a wrong one. */
  exchange(url: URL): Response | null
}

/** A door for one start of a server. The cookie is named for the port, since browsers share cookies between ports. */
export function createAuth(mode: AuthMode, port: () => number): Auth {
  if (mode === 'none') return { mode, token: null, check: () => undefined, exchange: () => null }
  const token = randomBytes(32).toString('base64url')
  const session = createHash('sha256').update(`cookie ${token}`).digest('base64url')
  const cookieName = (): string => `witan_${port()}`
  return {
    mode,
    token,
    check(request) {
      const given = /^Bearer +([\w.~+/-]+=*) *$/i.exec(request.headers.get('authorization') ?? '')?.[1]
      if (given !== undefined && isSame(given, token)) return
      const cookie = readCookie(request.headers.get('cookie') ?? '', cookieName())
      if (given === undefined && cookie !== null && isSame(cookie, session)) return
      throw unauthenticated()
    },
    exchange(url) {
      const given = url.searchParams.get('token')
      if (given === null) return null
      if (!isSame(given, token)) throw unauthenticated()
      return redirectWithCookie(url, `${cookieName()}=${session}; Path=/; HttpOnly; SameSite=Strict`)
    },
  }
}

/** Throws `CONFIG_INVALID` for a host that others can reach: both modes trust whoever is on this machine [D18]. */
export function checkBinding(host: string, mode: AuthMode): void {
  if (isLoopback(host)) return
  const hint = 'Set server.host to "127.0.0.1" and put a proxy that authenticates in front.'
  const detail = `server.host "${host}" can be reached from other machines; auth.mode "${mode}" is for this machine only.`
  throw new WitanError('CONFIG_INVALID', detail, { path: 'server.host', hint })
}

/** Compares digests, so that neither content nor length shows in the time it takes. */
function isSame(given: string, secret: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(given), digest(secret))
}

function readCookie(header: string, name: string): string | null {
  for (const pair of header.split(';')) {
    const [key, value] = pair.split('=', 2)
    if (key?.trim() === name) return value?.trim() ?? null
  }
  return null
}

function redirectWithCookie(url: URL, cookie: string): Response {
  const rest = new URLSearchParams(url.searchParams)
  rest.delete('token')
  const query = rest.size === 0 ? '' : `?${rest}`
  const location = `/${url.pathname.replace(/^[/\\]+/, '')}${query}`
  const headers = { location, 'set-cookie': cookie, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' }
  return new Response(null, { status: 303, headers })
}

function unauthenticated(): WitanError {
  const hint = 'Send `Authorization: Bearer <token>` with the token that the server printed at its start.'
  return new WitanError('UNAUTHENTICATED', 'This needs the token of the server.', { hint })
}
