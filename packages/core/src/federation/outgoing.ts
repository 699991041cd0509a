/** What a call to another server says of itself: who calls, in which chain, and with what right [M04–M08, M26–M28]. */
import { Buffer } from 'node:buffer'
import { createHash, sign } from 'node:crypto'
import { addressOf } from '@witan/protocol/names'
import { nextHop } from '../identity/chain.ts'
import { evidenceNow, leadingEvidence, onBehalfOf } from '../identity/on-behalf-of.ts'
import type { MaySend } from '../agent/bearers.ts'
import { remoteOf, saysForWhom } from '../agent/remote-agent.ts'
import type { RemoteLink } from '../tool/remote.ts'
import type { Caller } from '../tool/tool.ts'
import { identityExtension, mintEvidence } from './mint-evidence.ts'
import { keyOfMessages, type OwnKeys } from './own-keys.ts'
import type { Reissue } from './reissue.ts'
import type { RemoteServices } from './remote-services.ts'

/** What credentials are made from. */
interface CredentialOptions {
  readonly keys: OwnKeys
  /** The first domain of a database; null if it has none. */
  domainOf(database: string): string | null
  /** The ceiling of hops. */
  readonly maxHops: number
  /** In ms. */
  now(): number
  /** Asks issuers for evidence of their own to the same recipient. */
  readonly reissue: Reissue
  /** The variables of the environment. */
  readonly variables: Readonly<Record<string, string | undefined>>
  /** Whether one may be sent to a server. */
  readonly maySend: MaySend
}

const chainExtension = 'https://mentionable.dev/ns/normalized-message/v0.1'
/** How long a credential holds, in seconds. */
const lifeSeconds = 300

/** Makes the credentials of messages: a token of this server's own key, or for a server that is known by its card what the environment has. */
export function createCredentials(options: CredentialOptions): RemoteServices['sign'] {
  return async ({ edge, from, database, caller, messageId, isMessage, contextId }) => {
    const domain = options.domainOf(database) ?? 'invalid'
    const sender = senderOf(from, domain)
    const hop = nextHop(caller?.principal.incoming?.chain ?? null, options.maxHops) ?? { hop: 1, maxHops: 1 }
    const chain = { hop: hop.hop, max_hops: hop.maxHops, is_final: hop.hop >= hop.maxHops }
    const capabilities = { mention_relay: { kind: edge.mentionRelay } }
    const of = { sender, domain, audience: remoteOf(edge), messageId, thread: contextId }
    const isSaid = isMessage && caller !== null && saysForWhom(edge)
    const evidence = isSaid ? await evidenceOf(options, caller, of) : []
    const carried = evidence.length === 0 ? {} : { identity_evidence: evidence }
    const shared = {
      metadata: { mentionable: { agent_chain: chain, recipient_capabilities: capabilities, ...carried } },
      extensions: [chainExtension, ...(evidence.length === 0 ? [] : [identityExtension])],
    }
    if (edge.address === undefined) {
      const { bearerEnv } = edge
      const isSent = bearerEnv !== undefined && options.maySend(edge)
      return { ...shared, bearer: isSent ? (options.variables[bearerEnv] ?? null) : null }
    }
    const witanChain = { hop: hop.hop, max_hops: hop.maxHops, ...wayOf(caller, sender) }
    const bearer = await token(options, { sender, audience: edge.address, messageId, witanChain })
    return { ...shared, bearer }
  }
}

/** The address of the agent that calls: its own, or else its id at the domain of its database. */
function senderOf({ id, address }: RemoteLink['from'], domain: string): string {
  return address ?? addressOf(id, domain).text
}

interface EvidenceOf {
  readonly sender: string
  readonly domain: string
  readonly audience: string
  readonly messageId: string
  readonly thread: string | null
}

/** Evidence of our own, and what its issuers make anew: that of others goes no further. None is made from what has expired [E69, M31]. */
async function evidenceOf(
  { keys, now, reissue }: CredentialOptions,
  { principal }: Caller,
  { sender, domain, ...of }: EvidenceOf,
): Promise<readonly object[]> {
  const leading = leadingEvidence(principal)
  const at = now()
  if (leading !== null && leading.expiresAt <= at) return []
  const key = keyOfMessages(await keys.list(), at)
  const content = { subject: sender, onBehalfOf: onBehalfOf(principal, domain), digest: leading?.digest ?? null, ...of }
  const { audience, messageId, thread } = of
  const anew = await reissue(evidenceNow(principal), { audience, messageId, thread })
  return [mintEvidence(key, content, at), ...anew]
}

/** The path of a call up to its sender, and the id that the first server gave the chain. */
function wayOf(caller: Caller | null, sender: string): { readonly root: string; readonly path: readonly string[] } {
  const chain = caller?.principal.incoming?.chain
  const own = createHash('sha256').update(`${caller?.database} ${caller?.conversationId}`).digest('base64url')
  const path = chain?.path ?? []
  return { root: chain?.root ?? own, path: path.includes(sender) ? path : [...path, sender] }
}

async function token(
  { keys, now }: CredentialOptions,
  of: { readonly sender: string; readonly audience: string; readonly messageId: string; readonly witanChain: object },
): Promise<string> {
  const key = keyOfMessages(await keys.list(), now())
  const at = Math.floor(now() / 1000)
  const header = { alg: 'EdDSA', typ: 'JWT', kid: key.kid }
  const claims = {
    ...{ witan_chain: of.witanChain, iss: `https://${of.sender.slice(of.sender.indexOf('@', 1) + 1)}` },
    ...{ sub: of.sender, aud: of.audience, iat: at, exp: at + lifeSeconds, jti: of.messageId },
  }
  const text = `${encoded(header)}.${encoded(claims)}`
  // Each message has one: signed at once, that is half of what the asynchronous way costs.
  return `${text}.${sign(null, Buffer.from(text), key.privateKey).toString('base64url')}`
}

function encoded(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url')
}
