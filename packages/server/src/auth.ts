/** Who asks: what every mode of authentication does, and the two modes for this machine only. */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { localPrincipal, type Principal } from '@witan/core'
import { WitanError } from '@witan/protocol'
import { signInCookie } from './auth-cookie.ts'
import { type RequestOrigin, isLoopback } from './host.ts'

/** The modes, from open to this machine to open to the world. */
export const authModes = ['none', 'local', 'keys', 'jwt'] as const
export type AuthMode = (typeof authModes)[number]

/** The modes of one principal. Only this machine reaches a server with one of them. */
export type OwnMode = 'none' | 'local'

/** The authentication of one server. `token` is the one that the server made for itself; null in every mode but `local`. */
export interface Auth {
  readonly mode: AuthMode
  readonly token: string | null
  /** Whose tokens it takes; absent in every mode but `jwt`. */
  readonly issuer?: string
  /**
   * Gives the principal of a request. Rejects with `UNAUTHENTICATED` without a valid `Authorization` header, or cookie that one was
   * exchanged for, and with an error of status 503 if that cannot be found out. The cookie is for our own pages: pages of a listed origin
   * need the header.
   */
  check(request: Request, requestOrigin?: RequestOrigin): Promise<Principal>
  /** For a page asked for with `?token=…`: the redirect that sets the cookie; null without one. Throws `UNAUTHENTICATED` for a wrong one. */
  exchange(url: URL): Response | null
  /** The `Set-Cookie` header in exchange for the `Authorization` header; null if no cookie is needed. Rejects as `check` does. */
  signIn(request: Request): Promise<string | null>
  /** The `Set-Cookie` header that ends the cookie. */
  signOut(): string
  /** How often the caller of an open stream is checked again, in ms; null for never. */
  readonly recheckMs: number | null
  /** Writes down what is still to be written down. */
  close(): Promise<void>
}

/** Creates the authentication for one start of a server of this machine. Without a `token` it makes one. */
export function createAuth(mode: OwnMode, port: () => number, token = newToken()): Auth {
  const cookie = signInCookie(port)
  const never = { recheckMs: null, signOut: () => cookie.end(), close: async () => undefined }
  if (mode === 'none')
    return {
      ...{ mode, token: null, ...never },
      check: async () => localPrincipal,
      exchange: () => null,
      signIn: async () => null,
    }
  const session = createHash('sha256').update(`cookie ${token}`).digest('base64url')
  return {
    ...{ mode, token, ...never },
    async check(request, requestOrigin = 'own') {
      const given = bearerOf(request)
      if (given !== null && isSame(given, token)) return localPrincipal
      const known = requestOrigin === 'own' ? cookie.read(request) : null
      if (given === null && known !== null && isSame(known, session)) return localPrincipal
      throw unauthenticated()
    },
    exchange(url) {
      const given = url.searchParams.get('token')
      if (given === null) return null
      if (!isSame(given, token)) throw unauthenticated()
      return redirectWithCookie(url, cookie.set(session))
    },
    async signIn(request) {
      if (!isSame(bearerOf(request) ?? '', token)) throw unauthenticated()
      return cookie.set(session, request)
    },
  }
}

/** What a request shows as `Authorization: Bearer …`; null without it. */
export function bearerOf({ headers }: Request): string | null {
  return /^Bearer +([\w.~+/-]+=*) *$/i.exec(headers.get('authorization') ?? '')?.[1] ?? null
}

/** Throws `CONFIG_INVALID` for a host that other machines can reach, in a mode that lets in everybody or has one token [D18]. */
export function checkBinding(host: string, mode: AuthMode): void {
  if (isLoopback(host) || mode === 'keys' || mode === 'jwt') return
  const hint = 'Set server.host to "127.0.0.1" and put a proxy that authenticates in front.'
  const detail = `server.host "${host}" can be reached from other machines; auth.mode "${mode}" is for this machine only.`
  throw new WitanError('CONFIG_INVALID', detail, { path: 'server.host', hint })
}

/** It begins with no `-`: a command would take it for an option. */
function newToken(): string {
  return randomBytes(32).toString('base64url').replace(/^-/, '_')
}

/** Compares digests, so that timing reveals neither content nor length. */
function isSame(given: string, secret: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(given), digest(secret))
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
