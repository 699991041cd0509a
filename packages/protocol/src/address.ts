/** Addresses of agents and people, `@local@domain`: the forms that are read, and the one form that is kept and compared [M01, Mb01]. */

/** An address in parts. Both are in canonical form, so two addresses are the same if their `text` is. */
export interface Address {
  readonly local: string
  readonly domain: string
  /** `@local@domain`. */
  readonly text: string
}

/** An address, or the reason why the text is none, in words that follow a colon. */
export type ReadAddress =
  | { readonly ok: true; readonly address: Address }
  | { readonly ok: false; readonly problem: string }

const localPattern = /^[a-z0-9._-]{1,64}$/
/** The first segment of the paths of the protocol's HTTP binding, and what a URL resolves away. */
const reservedLocals: ReadonlySet<string> = new Set(['v1', '.', '..'])

/** The most characters of a text that are looked at. Longer ones are no address. */
const longest = 400

/** Reads `@local@domain`, `local@domain` or `acct:local@domain` in any case. */
export function readAddress(text: string): ReadAddress {
  if (text.length > longest) return { ok: false, problem: 'an address has at most 320 characters' }
  const bare = text.replace(/^acct:/i, '').replace(/^@/, '')
  const at = bare.indexOf('@')
  if (at < 0) return { ok: false, problem: 'expected `@local@domain`' }
  if (bare.includes('@', at + 1)) return { ok: false, problem: 'an address has one local part and one domain' }
  const local = readLocal(bare.slice(0, at))
  if (local.problem !== null) return { ok: false, problem: local.problem }
  const domain = readDomain(bare.slice(at + 1))
  if (domain.problem !== null) return { ok: false, problem: domain.problem }
  return { ok: true, address: addressOf(local.value, domain.value) }
}

/** The address of two parts that were read already. */
export function addressOf(local: string, domain: string): Address {
  return { local, domain, text: `@${local}@${domain}` }
}

/** A part of an address in canonical form, or what is wrong with it. */
export type ReadPart =
  | { readonly value: string; readonly problem: null }
  | { readonly value: null; readonly problem: string }

/** Reads a local part. It may have upper-case letters, which do not count. */
export function readLocal(text: string): ReadPart {
  const value = text.length > 64 ? '' : lowerAscii(text)
  if (!localPattern.test(value))
    return { value: null, problem: 'the local part has 1 to 64 of a-z, 0-9, `.`, `_` and `-`' }
  if (reservedLocals.has(value)) return { value: null, problem: `the local part \`${value}\` is reserved` }
  return { value, problem: null }
}

/** What stands in a URL but in no domain. `%` would be decoded, and blanks removed. */
const noDomainPattern = /[\s/\\?#@:%[\]<>^|]/

/** Reads a domain. A domain in other alphabets is kept in punycode. */
export function readDomain(text: string): ReadPart {
  const fault = (problem: string): ReadPart => ({ value: null, problem })
  if (text === '') return fault('the domain is missing')
  if (/^\[?[0-9a-f]*:[0-9a-f:.]*\]?$/i.test(text)) return fault('a domain is a name, not an IP address or a port')
  if (/:\d*$/.test(text)) return fault('a domain has no port')
  if (text.length > 253 || noDomainPattern.test(text)) return fault('the domain is not a domain name')
  const value = asHost(text)
  if (value === null) return fault('the domain is not a domain name')
  if (value.endsWith('.')) return fault('a domain has no dot at its end')
  if (/^\d+(\.\d+){3}$/.test(value)) return fault('a domain is a name, not an IP address')
  const labels = value.split('.')
  if (labels.length < 2) return fault('a domain needs two labels')
  const isName = value.length <= 253 && labels.every((label) => /^(?!-)[a-z0-9-]{1,63}(?<!-)$/.test(label))
  return isName ? { value, problem: null } : fault('the domain is not a domain name')
}

/** A host as a URL holds it: in lower case and punycode; null if it cannot be one. */
function asHost(text: string): string | null {
  try {
    return new URL(`https://${text}/`).hostname
  } catch {
    return null
  }
}

/** In lower case, of ASCII letters alone: `K`, the sign for kelvin, is no `k`. */
function lowerAscii(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => letter.toLowerCase())
}
