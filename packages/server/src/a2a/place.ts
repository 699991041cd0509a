/** Which agent, or which hub, a path of A2A names, and in which binding. */
import { readAddress, readLocal } from '@witan/protocol/names'
import type { Federation } from '../federation-config.ts'

/** What a path names. `rest` is what follows in the HTTP+JSON binding; null for JSON-RPC. */
export interface A2aPlace {
  /** Null for the hub. */
  readonly agent: { readonly local: string; readonly domain: string } | null
  readonly domain: string
  readonly rest: string | null
}

/** Reads a path that begins with `/a2a`; null if nothing can be there. `host` is the name that the request was sent to. */
export function placeOf(path: string, host: string, { domain, domains }: Federation): A2aPlace | null {
  if (domain === null) return null
  const [, first, ...segments] = path.replace(/\/$/, '').split('/')
  if (first !== 'a2a') return null
  const [name, binding, ...more] = segments
  const bare = host.toLowerCase().replace(/:\d*$/, '')
  const home = domains.includes(bare) ? bare : domain
  if (name === undefined) return { agent: null, domain: home, rest: null }
  if (name === 'v1') return { agent: null, domain: home, rest: [binding, ...more].filter(isText).join('/') }
  const agent = addressIn(name, domain)
  if (agent === null || !domains.includes(agent.domain) || (binding !== undefined && binding !== 'v1')) return null
  return { agent, domain: agent.domain, rest: binding === undefined ? null : more.join('/') }
}

function isText(segment: string | undefined): segment is string {
  return segment !== undefined
}

/** Without a domain, the first domain is meant. */
function addressIn(segment: string, domain: string): A2aPlace['agent'] {
  const text = decoded(segment)
  if (text === null) return null
  if (!text.includes('@')) {
    const local = readLocal(text)
    return local.problem === null ? { local: local.value, domain } : null
  }
  const read = readAddress(text)
  return read.ok && !text.startsWith('acct:') ? { local: read.address.local, domain: read.address.domain } : null
}

function decoded(segment: string): string | null {
  try {
    return decodeURIComponent(segment)
  } catch {
    return null
  }
}
