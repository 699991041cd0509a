/** Authentication of a local server: its token, or, in mode `none`, every process of this machine. */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { localPrincipal, type Principal } from '@witan/core'
import { WitanError } from '@witan/protocol'
import { type Asking, isLoopback } from './host.ts'

/** The modes that exist. `keys` and `jwt` are not built yet. */
export const authModes = ['local', 'none'] as const
export type AuthMode = (typeof authModes)[number]

/** The authentication of one server. `token` is null in mode `none`. */
export interface Auth {
  readonly mode: AuthMode
  readonly token: string | null
  /**
   * Gives the principal of a request. Rejects with `UNAUTHENTICATED` without the token (header) or the cookie it was exchanged for.
   * The cookie is for our own pages: pages of a listed origin need the token.
   */
  check(request: Request, asking?: Asking): Promise<Principal>
  /** For a page asked for with `?token=…`: the redirect that sets the cookie; null without one. Throws `UNAUTHENTICATED` for a wrong one. */
  exchange(url: URL): Response | null
}

/**
 * Creates the authentication for one start of a server; without a `token` it makes one. The cookie's name has the port, since
 * browsers share cookies between ports.
 */
export function createAuth(mode: AuthMode, port: () => number, token = newToken()): Auth {
  if (mode === 'none') return { mode, token: null, check: async () => localPrincipal, exchange: () => null }
  const session = createHash('sha256').update(`cookie ${token}`).digest('base64url')
  const cookieName = (): string => `witan_${port()}`
  return {
    mode,
    token,
    async check(request, asking = 'own') {
      const given = /^Bearer +([\w.~+/-]+=*) *$/i.exec(request.headers.get('authorization') ?? '')?.[1]
      if (given !== undefined && isSame(given, token)) return localPrincipal
      const cookie = asking === 'own' ? readCookie(request.headers.get('cookie') ?? '', cookieName()) : null
      if (given === undefined && cookie !== null && isSame(cookie, session)) return localPrincipal
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

/** Throws `CONFIG_INVALID` for a host that other machines can reach: both modes are for this machine only [D18]. */
export function checkBinding(host: string, mode: AuthMode): void {
  if (isLoopback(host)) return
  const hint = 'Set server.host to "127.0.0.1" and put a proxy that authenticates in front.'
  const detail = `server.host "${host}" can be reached from other machines; auth.mode "${mode}" is for this machine only.`
  throw new WitanError('CONFIG_INVALID', detail, { path: 'server.host', hint })
}

function newToken(): string {
  return randomBytes(32).toString('base64url')
}

/** Compares digests, so that timing reveals neither content nor length. */
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
