/** Parses the address of a server, or of a primary and its standbys, and shows it without its password. */
import { WitanError } from '@witan/protocol'

/** An address, and what of it may be shown. */
interface ServerAddress {
  /** `postgres://user@host:port,host:port/database`, without password and options. */
  readonly shown: string
  readonly user: string
  /** The whole address once for each host, in order. */
  readonly hosts: readonly string[]
}

/** Scheme, user and password, hosts, and the rest. */
const parts = /^(postgres(?:ql)?:\/\/)([^/?#]*@)?([^@/?#]*)([/?#].*)?$/
/** A store writes, so each of them means a server that can be written. */
const sessions = ['any', 'read-write', 'primary']

/** Parses an address. Throws `STORE_UNREACHABLE` if it is invalid, without repeating it. */
export function readAddress(url: string): ServerAddress {
  const [, scheme = '', user = '', authority = '', rest = ''] = parts.exec(url) ?? []
  const names = authority.split(',')
  const hosts = names.map((name) => `${scheme}${user}${name}${rest}`)
  const [first] = hosts.map((one) => (URL.canParse(one) ? new URL(one) : null))
  const isPlain = scheme !== '' && hosts.every((one) => URL.canParse(one)) && /^\/?[^/@:]*$/.test(first?.pathname ?? '')
  if (first === null || first === undefined || !isPlain || (names.length > 1 && names.includes(''))) {
    const hint =
      'Write `postgres://user:password@host:5432/database`, or several hosts with commas between; encode `@`, `/` and `:` in a password as %40, %2F, %3A.'
    throw new WitanError('STORE_UNREACHABLE', 'The address of the PostgreSQL server cannot be read.', { hint })
  }
  checkSession(first.searchParams.get('target_session_attrs'))
  const name = decodeURIComponent(first.username)
  const shownHosts = authority === '' ? (first.searchParams.get('host') ?? 'localhost') : authority
  return { shown: `postgres://${name === '' ? '' : `${name}@`}${shownHosts}${first.pathname}`, user: name, hosts }
}

function checkSession(wanted: string | null): void {
  if (wanted === null || sessions.includes(wanted)) return
  const detail = 'A store writes: `target_session_attrs` in its address must be `read-write`, `primary` or `any`.'
  throw new WitanError('STORE_UNREACHABLE', detail, {
    hint: 'Write `target_session_attrs=read-write`, or leave it out.',
  })
}

/** Which host of an address new connections go to: the one that worked last; after a failure the next. */
export interface Route {
  current(): string
  /** A connection to this one failed, or it cannot be written. */
  failed(host: string): void
}

/** A route over these hosts, which begins at the first. */
function createRoute(hosts: readonly string[]): Route {
  let at = 0
  const current = () => hosts[at] as string
  return {
    current,
    failed(host) {
      if (host === current()) at = (at + 1) % hosts.length
    },
  }
}

/** An address, and the host of it that is used now. */
export interface Way {
  readonly address: ServerAddress
  readonly route: Route
}

/** The way to a server that begins at the first host. Throws `STORE_UNREACHABLE` if the address is invalid. */
export function wayTo(url: string): Way {
  const address = readAddress(url)
  return { address, route: createRoute(address.hosts) }
}
