/** Which issuers of evidence are believed, and about whom: exactly those of the list, and every server about its own addresses [Mb10]. */
import { readAddress } from '@witan/protocol/names'

/** A trusted issuer, in canonical form: an `https://` URL without a slash at its end, or a `did:web`. */
export interface TrustedIssuer {
  readonly issuer: string
  /** The methods that it is believed with; `*` for any. */
  readonly methods: readonly string[]
  /** Whom it may speak for: addresses, every address of a domain (`@*@b.test`), or URIs. */
  readonly subjects: readonly string[]
}

/** What evidence says of itself, not checked yet. */
export interface EvidenceClaim {
  readonly issuer: string
  readonly method: string
  readonly subject: string
}

const anyMethod = '*'
const anyOfDomain = '@*@'

/**
 * True if this issuer is believed with this method about this subject. An issuer with entries is believed as they say and no further. One
 * without is believed about the addresses of its own host, if it is an `https://` URL.
 */
export function isTrusted(trust: readonly TrustedIssuer[], { issuer, method, subject }: EvidenceClaim): boolean {
  const entries = trust.filter((one) => one.issuer === issuer)
  const about = canonicalSubject(subject)
  if (entries.length === 0) {
    const domain = domainOfAddress(about)
    return domain !== null && issuer === `https://${domain}`
  }
  return entries.some(
    ({ methods, subjects }) =>
      methods.some((one) => one === anyMethod || one === method) && subjects.some((one) => isAbout(one, about)),
  )
}

/** True if an issuer of the list is a server of this domain. What follows from mere default trust does not count. */
export function isTrustedDomain(trust: readonly TrustedIssuer[], domain: string): boolean {
  return trust.some(({ issuer }) => hostOfIssuer(issuer) === domain)
}

/** An address in canonical form; anything else as it is. */
export function canonicalSubject(subject: string): string {
  if (!subject.startsWith('@')) return subject
  const read = readAddress(subject)
  return read.ok ? read.address.text : subject
}

/** The host of an issuer, without its port; null for what is no issuer. */
export function hostOfIssuer(issuer: string): string | null {
  const url = issuer.startsWith(didMark) ? urlOfDid(issuer) : issuer
  return url !== null && URL.canParse(url) ? new URL(url).hostname : null
}

const didMark = 'did:web:'
const didPattern = /^did:web:[a-z0-9.-]+(?:%3a\d{1,5})?(?::[\w.~-]+)*$/i

/** The URL that a `did:web` stands for, without the name of its document; null for what is none. */
export function urlOfDid(did: string): string | null {
  if (!didPattern.test(did)) return null
  const [host = '', ...path] = did.slice(didMark.length).split(':')
  return `https://${[host.replace(/%3a/i, ':'), ...path].join('/')}`
}

function isAbout(entry: string, subject: string): boolean {
  if (!entry.startsWith(anyOfDomain)) return entry === subject
  return domainOfAddress(subject) === entry.slice(anyOfDomain.length)
}

/** The domain of an address that begins with `@`; null for anything else. */
function domainOfAddress(text: string): string | null {
  const read = text.startsWith('@') ? readAddress(text) : null
  return read?.ok === true ? read.address.domain : null
}
