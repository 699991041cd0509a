/** What others read without a credential: WebFinger, cards, and the keys that sign them [Mb02, Mb14, Mb15]. */
import { createHash } from 'node:crypto'
import { cardRelation, type OwnKey, type PublishedAgent, signedCard } from '@witan/core/tooling'
import { readAddress, readLocal } from '@witan/protocol/names'
import { z } from 'zod'
import type { AppOptions } from '../app-options.ts'
import { dropOldest } from '../drop-oldest.ts'
import { type Federation, noFederation } from '../federation-config.ts'
import { isKnown } from '../file-reply.ts'
import { nothingAt } from '../problem.ts'
import { badRequest, type Call, defineRoute, type JsonReply, param, type Route } from '../route.ts'
import { a2aCard, hubCard, mentionableCard, segmentOf } from './cards.ts'

const maxAge = 'max-age=300'
const document = z.record(z.string(), z.unknown())
const about = (description: string) => ({ 200: { schema: document, description } })

/** The routes. Without `server.domain` there is nothing at any of them. */
export function discoveryRoutes({ runtime, federation = noFederation }: AppOptions): readonly Route[] {
  const { published, signingKeys } = runtime
  const sign = createSigner()
  const one = async (call: Call<unknown, unknown>, path: string): Promise<PublishedAgent> => {
    const address = addressIn(param(call, 'local'), federation)
    const agent = address === null ? null : await published.find(address)
    if (agent === null) throw nothingAt(path)
    return agent
  }
  return [
    defineRoute({
      ...{ method: 'GET', path: '/.well-known/webfinger', name: 'webfinger', tag: 'discovery' },
      summary: 'Where the card of a published agent is.',
      answers: about('The document.'),
      async handle(call) {
        const address = resourceOf(call.search.getAll('resource'))
        const agent = await published.find(address)
        if (agent === null) throw nothingAt('/.well-known/webfinger')
        const href = `${federation.publicUrl()}/.well-known/agent-card/${segmentOf(agent, federation)}`
        const body = {
          subject: `acct:${address.local}@${address.domain}`,
          links: [{ rel: cardRelation, type: 'application/json', href }],
        }
        return { status: 200, body, headers: { 'content-type': 'application/jrd+json', 'cache-control': maxAge } }
      },
    }),
    defineRoute({
      ...{ method: 'GET', path: '/.well-known/agent-card/{local}', name: 'agentCard', tag: 'discovery' },
      summary: 'The Mentionable card of a published agent.',
      answers: about('The card.'),
      async handle(call) {
        const agent = await one(call, '/.well-known/agent-card')
        return cardReply(call, JSON.stringify(mentionableCard(agent, federation)), agent.changedAt)
      },
    }),
    defineRoute({
      ...{ method: 'GET', path: '/a2a/{local}/.well-known/agent-card.json', name: 'a2aCard', tag: 'discovery' },
      summary: 'The A2A card of a published agent, signed.',
      answers: about('The card.'),
      async handle(call) {
        const agent = await one(call, '/a2a')
        const keys = await signingKeys.list()
        const text = await sign(a2aCard(agent, federation), keys, agent.address.domain)
        return cardReply(call, text, latest([agent], keys))
      },
    }),
    defineRoute({
      ...{ method: 'GET', path: '/.well-known/agent-card.json', name: 'hubCard', tag: 'discovery' },
      summary: 'The A2A card of the hub, signed.',
      answers: about('The card.'),
      async handle(call) {
        const domain = domainOf(call, federation)
        const agents = domain === null ? [] : await published.list(domain)
        if (domain === null || agents.length === 0) throw nothingAt('/.well-known/agent-card.json')
        const keys = await signingKeys.list()
        const text = await sign(hubCard(agents, domain, federation), keys, domain)
        return cardReply(call, text, latest(agents, keys))
      },
    }),
    ...keyRoutes({ federation, keys: () => signingKeys.list() }),
  ]
}

function keyRoutes({
  federation,
  keys,
}: {
  readonly federation: Federation
  readonly keys: () => Promise<readonly OwnKey[]>
}): readonly Route[] {
  return [
    defineRoute({
      ...{ method: 'GET', path: '/.well-known/jwks.json', name: 'signingKeys', tag: 'discovery' },
      summary: 'The public keys that sign cards and credentials of this server.',
      answers: about('A JSON Web Key Set.'),
      async handle(call) {
        if (federation.domain === null) throw nothingAt('/.well-known/jwks.json')
        const own = await keys()
        return cardReply(call, JSON.stringify({ keys: own.map(({ publicJwk }) => publicJwk) }), latest([], own))
      },
    }),
    defineRoute({
      ...{ method: 'GET', path: '/.well-known/did.json', name: 'did', tag: 'discovery' },
      summary: 'The same keys as the document of `did:web`.',
      answers: about('A DID document.'),
      async handle(call) {
        const domain = domainOf(call, federation)
        if (domain === null) throw nothingAt('/.well-known/did.json')
        const own = await keys()
        return cardReply(call, JSON.stringify(didDocument(domain, own)), latest([], own))
      },
    }),
  ]
}

function didDocument(domain: string, keys: readonly OwnKey[]): object {
  const id = `did:web:${domain}`
  const methods = keys.map(({ kid, publicJwk }) => {
    return { id: `${id}#${kid}`, type: 'JsonWebKey', controller: id, publicKeyJwk: publicJwk }
  })
  return {
    '@context': ['https://www.w3.org/ns/did/v1', 'https://w3id.org/security/jwk/v1'],
    id,
    verificationMethod: methods,
    assertionMethod: methods.map((method) => method.id),
  }
}

/** The domain that a request was sent to, if it is one of ours; else the first one, or null without any. */
function domainOf({ headers }: Call<unknown, unknown>, { domain, domains }: Federation): string | null {
  const host = (headers.get('host') ?? '').toLowerCase().replace(/:\d*$/, '')
  return domains.includes(host) ? host : domain
}

/** An address as a path writes it: a local part alone means the first domain. */
function addressIn(text: string, { domain }: Federation): { readonly local: string; readonly domain: string } | null {
  if (text.includes('@')) {
    const read = /^acct:/i.test(text) ? null : readAddress(text)
    return read?.ok === true ? read.address : null
  }
  const local = readLocal(text)
  return domain === null || local.problem !== null ? null : { local: local.value, domain }
}

function resourceOf(given: readonly string[]): { readonly local: string; readonly domain: string } {
  const [resource = '', second] = given
  const hint = 'Ask for `?resource=acct:docs@bots.example.com`.'
  if (second !== undefined) throw badRequest('`resource` stands twice in the query.', { path: 'resource', hint })
  if (!/^acct:/i.test(resource))
    throw badRequest('`resource` must be `acct:` and an address.', { path: 'resource', hint })
  const read = readAddress(resource)
  if (!read.ok) throw badRequest(`\`resource\` is no address: ${read.problem}.`, { path: 'resource', hint })
  return read.address
}

/** How many signed cards are kept. */
const mostKept = 500

/** Signs a card once: the same card with the same keys has the same text. */
function createSigner(): (card: object, keys: readonly OwnKey[], domain: string) => Promise<string> {
  const kept = new Map<string, string>()
  return async (card, keys, domain) => {
    const digest = digestOf(JSON.stringify([card, domain, keys.map(({ kid }) => kid)]))
    const known = kept.get(digest)
    if (known !== undefined) return known
    const text = JSON.stringify(await signedCard(card, keys, `https://${domain}/.well-known/jwks.json`))
    kept.set(digest, text)
    dropOldest(kept, mostKept)
    return text
  }
}

/** A document with its tag; 304 if the reader has it. */
function cardReply({ headers }: Call<unknown, unknown>, text: string, changedAt: number | null): JsonReply {
  const digest = digestOf(text).slice(0, 32)
  const always = {
    etag: `"${digest}"`,
    'cache-control': maxAge,
    ...(changedAt === null ? {} : { 'last-modified': new Date(changedAt).toUTCString() }),
  }
  if (isKnown(headers, digest)) return { status: 304, headers: always }
  return {
    status: 200,
    bytes: new TextEncoder().encode(text),
    headers: { ...always, 'content-type': 'application/json' },
  }
}

/** When the latest of these was changed; null if none says. */
function latest(agents: readonly PublishedAgent[], keys: readonly OwnKey[]): number | null {
  const times = [...agents.map(({ changedAt }) => changedAt), ...keys.map(({ createdAt }) => createdAt)]
  return times.reduce((latest, at) => (latest === null || (at !== null && at > latest) ? at : latest), null)
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}
