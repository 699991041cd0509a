/** Parses the URL of a server, and shows it without its password. */
import { WitanError } from '@witan/protocol'

/** A URL that may be shown. */
export interface ServerAddress {
  /** `postgres://user@host:port/database`, without password and options. */
  readonly shown: string
  readonly user: string
}

/** Parses a URL. Throws `STORE_UNREACHABLE` if it is invalid, without repeating it. */
export function readAddress(url: string): ServerAddress {
  const parsed = URL.canParse(url) ? new URL(url) : null
  const isPlain = /^postgres(ql)?:\/\//.test(url) && /^\/?[^/@:]*$/.test(parsed?.pathname ?? '')
  if (parsed === null || !isPlain) {
    const hint =
      'Write `postgres://user:password@host:5432/database`; encode `@`, `/` and `:` in a password as %40, %2F, %3A.'
    throw new WitanError('STORE_UNREACHABLE', 'The address of the PostgreSQL server cannot be read.', { hint })
  }
  const user = decodeURIComponent(parsed.username)
  const host = parsed.host === '' ? (parsed.searchParams.get('host') ?? 'localhost') : parsed.host
  return { shown: `postgres://${user === '' ? '' : `${user}@`}${host}${parsed.pathname}`, user }
}
