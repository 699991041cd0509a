/** Finds an agent on another server by its address: WebFinger, the Mentionable card, the A2A card, and who signed that [Mb02, Mb14]. */
import { type Address, readAddress } from '@witan/protocol/names'
import type { JWK } from 'jose'
import { unusable } from './fetch-error.ts'
import { thumbprintOf } from './own-keys.ts'
import type { SafeFetch } from './safe-fetch.ts'
import { checkCard } from './sign.ts'

/** The relation of a WebFinger link to a Mentionable card. */
export const cardRelation = 'https://mentionable.dev/ns/rel/agent-card'

/** One step of the discovery that is done: what was read, from where, and what it says. */
export interface DiscoveryStep {
  readonly step: 'webfinger' | 'card' | 'a2a-card' | 'interface' | 'signature'
  readonly url: string
  readonly found: string
}

/** An agent on another server. */
export interface FoundAgent {
  readonly address: Address
  readonly name: string
  /** Where its A2A server is, and how it is spoken to. */
  readonly endpoint: { readonly url: string; readonly binding: 'JSONRPC' | 'HTTP+JSON'; readonly tenant: string | null }
  /** The thumbprints of the keys of its domain that signed its A2A card; none if it is not signed. */
  readonly signedBy: readonly string[]
  readonly a2aCard: Readonly<Record<string, unknown>>
}

/** What the A2A card of an agent says. */
type FoundCard = Pick<FoundAgent, 'endpoint' | 'signedBy' | 'a2aCard'>

/** How documents are fetched, and who is told of each step. */
interface Way {
  readonly fetch: Pick<SafeFetch, 'json'>
  readonly note: (step: DiscoveryStep) => void
}

/**
 * Finds an agent. `note` is called after each step that succeeds. Throws `URL_NOT_PUBLIC`, `REMOTE_UNREACHABLE`, or `REMOTE_CARD_INVALID` with
 * the URL of the document that cannot be used.
 */
export async function resolveAddress(address: Address, { fetch, note }: Way): Promise<FoundAgent> {
  const { local, domain } = address
  const finger = await fetch.json(`https://${domain}/.well-known/webfinger?resource=acct:${local}@${domain}`)
  const cardUrl = linkOf(finger, address)
  note({ step: 'webfinger', url: finger.url, found: cardUrl })
  const card = await fetch.json(cardUrl)
  const { name, endpoint } = mentionableOf(card, address)
  note({ step: 'card', url: card.url, found: endpoint })
  const a2a = await fetch.json(`${endpoint}/.well-known/agent-card.json`)
  return { address, name, ...(await readA2aCard(a2a, domain, { fetch, note })) }
}

/**
 * An agent that is known by the URL of its card alone: its keys are those of the host of that. `note` is called after each step that
 * succeeds. Throws as `resolveAddress` does.
 */
export async function resolveCard(url: string, way: Way): Promise<FoundCard> {
  return readA2aCard(await way.fetch.json(url), new URL(url).host, way)
}

/** What the A2A card of an agent says, and who of a domain signed it. */
async function readA2aCard({ url, value }: Document, domain: string, { fetch, note }: Way): Promise<FoundCard> {
  const a2aCard = recordOf(value)
  if (a2aCard === null) throw unusable(url, 'it is no card')
  note({ step: 'a2a-card', url, found: textOf(a2aCard['name']) ?? 'no name' })
  const endpoint = interfaceOf(a2aCard, url)
  note({ step: 'interface', url: endpoint.url, found: `${endpoint.binding} of protocol version 1.0` })
  const signedBy = await signersOf(a2aCard, { domain, fetch, url })
  const who = signedBy.length === 0 ? 'not signed' : `signed by ${signedBy.join(', ')}`
  note({ step: 'signature', url: signedBy.length === 0 ? url : keysUrl(domain), found: who })
  return { endpoint, signedBy, a2aCard }
}

/** Where a domain publishes its keys. A `jku` that leads anywhere else is not followed. */
function keysUrl(domain: string): string {
  return `https://${domain}/.well-known/jwks.json`
}

interface Document {
  readonly url: string
  readonly value: unknown
}

function linkOf({ url, value }: Document, address: Address): string {
  const jrd = recordOf(value)
  if (!isAddress(jrd?.['subject'], address)) throw unusable(url, `its \`subject\` is not ${address.text}`)
  const links = jrd?.['links']
  const link = Array.isArray(links)
    ? links.map(recordOf).find((one) => one?.['rel'] === cardRelation && typeof one['href'] === 'string')
    : undefined
  const href = textOf(link?.['href'])
  if (href === null) throw unusable(url, `it has no link \`${cardRelation}\``)
  return href
}

function mentionableOf(
  { url, value }: Document,
  address: Address,
): { readonly name: string; readonly endpoint: string } {
  const card = recordOf(value)
  if (!isAddress(card?.['address'], address)) throw unusable(url, `its \`address\` is not ${address.text}`)
  const endpoint = textOf(recordOf(card?.['a2a'])?.['endpoint'])
  if (endpoint === null || !URL.canParse(endpoint)) throw unusable(url, 'it has no `a2a.endpoint`')
  return { name: textOf(card?.['name']) ?? address.text, endpoint: withoutLastSlashes(endpoint) }
}

/** A pattern for the slashes at the end would be tried at each slash before. */
function withoutLastSlashes(url: string): string {
  let end = url.length
  while (url[end - 1] === '/') end -= 1
  return url.slice(0, end)
}

const bindings = ['JSONRPC', 'HTTP+JSON'] as const
const mostInterfaces = 100

/** The first interface that we speak. */
function interfaceOf(card: Readonly<Record<string, unknown>>, at: string): FoundAgent['endpoint'] {
  const offered = card['supportedInterfaces']
  const interfaces = Array.isArray(offered) ? offered.slice(0, mostInterfaces).map(recordOf) : []
  for (const one of interfaces) {
    const binding = bindings.find((known) => known === one?.['protocolBinding'])
    const url = textOf(one?.['url'])
    if (one === null || one['protocolVersion'] !== '1.0' || binding === undefined || url === null) continue
    if (URL.canParse(url)) return { url, binding, tenant: textOf(one['tenant']) }
  }
  const others = versionsIn(card, interfaces)
  const besides = others.length === 0 ? '' : `; it speaks A2A ${others.join(', ')}, and this server calls 1.0 alone`
  throw unusable(at, `it offers no interface of protocol version 1.0 over ${bindings.join(' or ')}${besides}`)
}

const mostVersions = 3

/** The versions that a card names, other than 1.0; one of 0.3 names it beside its only URL. */
function versionsIn(
  card: Readonly<Record<string, unknown>>,
  interfaces: readonly (Readonly<Record<string, unknown>> | null)[],
): readonly string[] {
  const named = [card, ...interfaces].map((one) => textOf(one?.['protocolVersion']))
  const read = named.flatMap((one) => (one !== null && one !== '1.0' && /^\d[\w.-]{0,15}$/.test(one) ? [one] : []))
  return [...new Set(read)].slice(0, mostVersions)
}

async function signersOf(
  card: Readonly<Record<string, unknown>>,
  { domain, fetch, url }: { readonly domain: string; readonly fetch: Pick<SafeFetch, 'json'>; readonly url: string },
): Promise<readonly string[]> {
  if (!Object.hasOwn(card, 'signatures')) return []
  const keys = keysOf(await fetch.json(keysUrl(domain)))
  const proof = await checkCard(card, keys)
  if (proof.kind === 'wrong') throw unusable(url, proof.problem)
  if (proof.kind !== 'signed') return []
  // In the order of the signatures: a new key stands before the one that it follows.
  return proof.kids.map((kid) => thumbprintOf(keys.find((key) => key.kid === kid)?.x ?? ''))
}

const mostKeys = 100

function keysOf({ url, value }: Document): readonly JWK[] {
  const keys = recordOf(value)?.['keys']
  if (!Array.isArray(keys) || keys.length > mostKeys) throw unusable(url, `it is no set of at most ${mostKeys} keys`)
  return keys.flatMap((one: unknown) => {
    const key = recordOf(one)
    const [kid, x] = [textOf(key?.['kid']), textOf(key?.['x'])]
    const isFit = key?.['kty'] === 'OKP' && key['crv'] === 'Ed25519' && (key['use'] ?? 'sig') === 'sig'
    return isFit && kid !== null && x !== null ? [{ kty: 'OKP', crv: 'Ed25519', kid, x }] : []
  })
}

function isAddress(given: unknown, { text }: Address): boolean {
  const read = typeof given === 'string' ? readAddress(given) : null
  return read?.ok === true && read.address.text === text
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : null
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}
