/** Which URLs of other servers may be reached, and at which address: it is checked after the name is resolved [D21]. */
import { lookup as systemLookup } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import { notReached } from './fetch-error.ts'
import { notPublic } from './public-address.ts'

/** The addresses of a host. */
type Lookup = (host: string) => Promise<readonly { readonly address: string; readonly family: number }[]>

/** Where requests may go. */
export interface ReachOptions {
  /** `federation.resolve`: for a host, or a host and a port, the URL whose origin is asked in its place. */
  readonly resolve?: Readonly<Record<string, string>>
  /** Default: the resolver of the machine. */
  readonly lookup?: Lookup
}

/** One request that may go out: where to, and under which name. */
export interface Reached {
  readonly url: URL
  /** Where the connection goes. */
  readonly origin: URL
  /** Null for an origin of `federation.resolve`, which may be private. */
  readonly lookup: LookupFunction | null
}

/** Decides where a request goes. Throws `URL_NOT_PUBLIC`. */
export function createReach({ resolve = {}, lookup = resolveAll }: ReachOptions): (url: string) => Reached {
  const origins = new Map(Object.entries(resolve).map(([host, url]) => [host.toLowerCase(), new URL(url)]))
  const isListed = (url: URL) => [...origins.values()].some(({ origin }) => origin === url.origin)
  const checked = checkedLookup(lookup)
  return (text) => {
    if (!URL.canParse(text)) throw notReached(text, 'is no URL')
    const url = new URL(text)
    if (url.username !== '' || url.password !== '') throw notReached(url.origin, 'has a user or a password')
    if (url.protocol !== 'https:' && url.protocol !== 'http:') throw notReached(text, 'is not HTTPS')
    const port = url.port === '' ? (url.protocol === 'https:' ? '443' : '80') : url.port
    const origin = origins.get(`${url.hostname}:${port}`) ?? origins.get(url.hostname)
    if (origin !== undefined) return { url, origin, lookup: null }
    if (isListed(url)) return { url, origin: url, lookup: null }
    if (url.protocol !== 'https:') throw notReached(text, 'is not HTTPS')
    const literal = url.hostname.replace(/^\[|\]$/g, '')
    // A connection to an address asks no resolver, so it is checked here.
    const why = isIP(literal) === 0 ? null : notPublic(literal)
    if (why !== null) throw notReached(text, `leads to ${literal} (${why})`)
    return { url, origin: url, lookup: checked }
  }
}

/** The look-up of one connection: it connects to what was checked. One private address among the answers refuses them all. */
function checkedLookup(lookup: Lookup): LookupFunction {
  return (host, options, done) => {
    lookup(host).then(
      (found) => {
        const wrong = found.find(({ address }) => notPublic(address) !== null)
        const [first] = found
        if (first === undefined) return done(new Error('it has no address'), '', 0)
        if (wrong !== undefined) {
          const why = `resolves to ${wrong.address} (${notPublic(wrong.address)})`
          const refusal: Error = notReached(`https://${host}`, why)
          return done(refusal, '', 0)
        }
        return options.all === true ? done(null, [...found]) : done(null, first.address, first.family)
      },
      (error: NodeJS.ErrnoException) => done(error, '', 0),
    )
  }
}

const resolveAll: Lookup = (host) =>
  new Promise((resolve, reject) => {
    systemLookup(host, { all: true, order: 'verbatim' }, (error, found) =>
      error === null ? resolve(found) : reject(error),
    )
  })
