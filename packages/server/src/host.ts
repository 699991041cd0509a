/** Which names this server answers to, so that a page of another site cannot reach it through a name of its own [D18]. */
import { WitanError } from '@witan/protocol'

/** The port is known only after listening, hence a function. `allowed` is `server.allowedHosts`: `name` (any port) or `name:port`. */
export interface HostPolicy {
  readonly port: () => number
  readonly allowed: readonly string[]
}

const loopbackNames = ['127.0.0.1', 'localhost', '[::1]']

/** Whether a configured host is this machine and nothing else. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host === '[::1]' || /^127(\.\d{1,3}){3}$/.test(host)
}

/** Throws `HOST_NOT_ALLOWED` for a `Host` that is neither loopback with our port nor listed. */
export function checkHost(host: string, policy: HostPolicy): void {
  if (isAllowed(host, policy)) return
  throw refused('Host', host)
}

/** Throws `HOST_NOT_ALLOWED` for a request that a page of another origin made. Requests without an `Origin` come from no page, or from ours. */
export function checkOrigin(request: Request, policy: HostPolicy): void {
  const origin = request.headers.get('origin')
  if (origin === null) {
    if (request.headers.get('sec-fetch-site') === 'cross-site') throw refused('Origin', 'another site')
    return
  }
  const host = /^https?:\/\/([^/?#@\s]+)$/i.exec(origin)?.[1]
  if (host === undefined || !isAllowed(host, policy)) throw refused('Origin', origin)
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
  const hint = 'Add its host to server.allowedHosts if you run behind a proxy.'
  return new WitanError('HOST_NOT_ALLOWED', `${what} \`${shown}\` is not allowed.`, { hint })
}
