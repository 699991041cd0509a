/** The host names that this server accepts, so that a page of another site cannot reach it through that site's name [D18]. */
import { WitanError } from '@witan/protocol'

/**
 * The port is known only after listening, hence a function. `allowed` is `server.allowedHosts`: `name` (any port) or `name:port`.
 * `origins` is `server.allowedOrigins`: pages of these origins may call the API too. Default none. `domains`: the domains of addresses, which
 * are no origins of ours, since another server may have the pages of a domain.
 */
export interface HostPolicy {
  readonly port: () => number
  readonly allowed: readonly string[]
  readonly origins?: readonly string[]
  readonly domains?: readonly string[]
}

/** Who made a request: no page or a page of this server, or a page of a listed origin. */
export type RequestOrigin = 'own' | 'listed'

const loopbackNames = ['127.0.0.1', 'localhost', '[::1]']

/** True if a configured host is only this machine. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host === '[::1]' || /^127(\.\d{1,3}){3}$/.test(host)
}

/** True if a configured host is every address of this machine. */
export function isEveryAddress(host: string): boolean {
  return ['0.0.0.0', '::', '[::]'].includes(host)
}

/** How this machine itself addresses a server on a configured host, as in a URL. */
export function nameOf(host: string): string {
  if (isEveryAddress(host)) return host === '0.0.0.0' ? '127.0.0.1' : '[::1]'
  return host.includes(':') && !host.startsWith('[') ? `[${host}]` : host
}

/** Throws `HOST_NOT_ALLOWED` for a `Host` that is neither loopback with our port nor listed, nor a domain of ours. */
export function checkHost(host: string, policy: HostPolicy): void {
  if (isAllowed(host, policy) || isDomain(host, policy)) return
  throw refused('Host', host)
}

/** The origin of a page whose requests are refused; null for requests of our pages, of listed ones, and of no page. */
export function refusedOrigin(request: Request, policy: HostPolicy): string | null {
  const origin = request.headers.get('origin')
  return origin === null || isOwn(origin, policy) || listedOrigin(request, policy) !== null ? null : origin
}

function isOwn(origin: string, policy: HostPolicy): boolean {
  const host = /^https?:\/\/([^/?#@\s]+)$/i.exec(origin)?.[1]
  return host !== undefined && isAllowed(host, policy)
}

/** Throws `HOST_NOT_ALLOWED` for a request of a page whose origin is neither ours nor listed. Requests without an `Origin` come from no page, or from ours. */
export function checkOrigin(request: Request, policy: HostPolicy): RequestOrigin {
  const origin = request.headers.get('origin')
  if (origin === null) {
    if (request.headers.get('sec-fetch-site') === 'cross-site') throw refused('Origin', 'another site')
    return 'own'
  }
  if (isOwn(origin, policy)) return 'own'
  if (listedOrigin(request, policy) !== null) return 'listed'
  throw refused('Origin', origin)
}

/** The listed origin that the request comes from, letter by letter; null for any other. */
export function listedOrigin({ headers }: Request, { origins = [] }: HostPolicy): string | null {
  const origin = headers.get('origin')
  return origin !== null && origins.includes(origin) ? origin : null
}

function isDomain(host: string, { domains = [] }: HostPolicy): boolean {
  return domains.includes(host.toLowerCase().replace(/:\d*$/, ''))
}

function isAllowed(host: string, policy: HostPolicy): boolean {
  const given = host.toLowerCase()
  const name = given.replace(/:\d*$/, '')
  const port = given.slice(name.length + 1)
  if (loopbackNames.includes(name) && port === portText(policy.port())) return true
  return policy.allowed.some((entry) => {
    const known = entry.toLowerCase()
    return known === given || known === name
  })
}

/** How a client writes our port: not at all where it is the default one. */
function portText(port: number): string {
  return port === 80 ? '' : String(port)
}

function refused(what: 'Host' | 'Origin', value: string): WitanError {
  const shown = value.replace(/[^\w.:/[\] -]/g, '?').slice(0, 100)
  const page = 'Add it to server.allowedOrigins if its pages may call this server, or its host'
  const hint = `${what === 'Host' ? 'Add its host' : page} to server.allowedHosts if you run behind a proxy.`
  return new WitanError('HOST_NOT_ALLOWED', `${what} \`${shown}\` is not allowed.`, { hint })
}
