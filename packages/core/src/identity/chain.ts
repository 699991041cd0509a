/**
 * A chain of calls between servers: what came in, what holds for the run, what a call to a further server says, and what a model reads
 * of it [M04–M16, M26–M28].
 */
import type { AgentChain, IncomingCall } from '@witan/protocol/entries'

/** Where a call may say its chain: in the metadata of its message, beside the capabilities there, and in its credential. Undefined or null: nowhere. */
export interface GivenChains {
  readonly message?: unknown
  readonly capabilities?: unknown
  readonly credential?: unknown
}

/** Whom the chain reaches, and what holds here. */
export interface ChainTerms {
  /** The address that is called. */
  readonly called: string
  /** The address of the agent that calls; null for a person or a program of this server. */
  readonly caller: string | null
  /** Our ceiling of hops. */
  readonly ceiling: number
  /** An address in the form in which two of them can be compared. */
  readonly canonical: (address: string) => string
}

/** What a person reads of how a chain was taken. */
type ChainNotice =
  | { readonly code: 'CHAIN_MISSING'; readonly caller: string }
  | { readonly code: 'CHAIN_LOWERED'; readonly from: number; readonly to: number }

/** The chain that holds, null for none; or why the message is refused. */
type TakenChain =
  | { readonly ok: true; readonly chain: AgentChain | null; readonly notices: readonly ChainNotice[] }
  | { readonly ok: false; readonly code: 'AGENT_CHAIN_INVALID' | 'CHAIN_LOOP'; readonly detail: string }

/** The most addresses of a path. */
const longestPath = 64

interface Hops {
  readonly hop: number
  readonly maxHops: number
}

/**
 * Takes the chain of an incoming call. Of several the one with the fewest hops left under our ceiling counts; the path is that of the
 * credential. `is_final` of a sender is never read. An agent without a chain makes hop 1 of our ceiling [M35].
 */
export function takeChain(given: GivenChains, terms: ChainTerms): TakenChain {
  const known = { ...given }
  const hops: Hops[] = []
  for (const [place, value] of Object.entries(known)) {
    if (value === undefined || value === null) continue
    const read = readHops(value)
    if (read === null) return invalid(place as keyof GivenChains)
    hops.push(read)
  }
  const path = pathOf(given.credential, terms)
  if (!path.ok) return path
  const { ceiling, caller } = terms
  const left = ({ hop, maxHops }: Hops) => Math.min(maxHops, ceiling) - hop
  const [least] = hops.toSorted((one, other) => left(one) - left(other))
  const about = { root: rootOf(given.credential), path: path.path }
  if (least === undefined) {
    if (caller === null) return { ok: true, chain: null, notices: [] }
    const chain = { hop: 1, maxHops: ceiling, ...about, assumed: true } as const
    return { ok: true, chain, notices: [{ code: 'CHAIN_MISSING', caller }] }
  }
  const { hop, maxHops } = least
  const isLowered = maxHops > ceiling
  const chain = { hop, maxHops: Math.min(maxHops, ceiling), ...about }
  return { ok: true, chain, notices: isLowered ? [{ code: 'CHAIN_LOWERED', from: maxHops, to: ceiling }] : [] }
}

/** True if the agents of the run may call no other server [M07, M12]. */
export function isFinal({ hop, maxHops }: AgentChain): boolean {
  return hop >= maxHops
}

/** The hop of a call to a further server: of a run without a chain the first. Null at the final hop [M26, M27, M32]. */
export function nextHop(chain: AgentChain | null, ceiling: number): Hops | null {
  if (chain === null) return ceiling < 1 ? null : { hop: 1, maxHops: ceiling }
  return isFinal(chain) ? null : { hop: chain.hop + 1, maxHops: chain.maxHops }
}

/** What an agent of the run reads in its system message. `isCalled`: it is the agent that was called [M09–M14]. */
export function chainLines(incoming: IncomingCall, isCalled: boolean): readonly string[] {
  const { chain, mentionRelay } = incoming
  const lines: string[] = []
  // A chain that nobody sent is no news to a model [M37].
  if (chain !== undefined && chain.assumed !== true) lines.push(chainLine(chain))
  if (mentionRelay === 'inline' && isCalled && (chain === undefined || !isFinal(chain))) lines.push(relayLine)
  return lines
}

const relayLine =
  'To bring in another agent, write its address such as @c@domain at the beginning of your answer; it will be routed.'

function chainLine(chain: AgentChain): string {
  const { hop, maxHops } = chain
  if (isFinal(chain))
    return `This is the final hop (${hop} of ${maxHops}): conclude; no agent on another server can be asked.`
  const left = maxHops - hop
  return `This is hop ${hop} of at most ${maxHops}: calls to other servers may go ${left} ${left === 1 ? 'hop' : 'hops'} further.`
}

/** What the sender does with a mention at the beginning of an answer: routes it, or nothing. A bare word is read too [C23, M13, M15]. */
export function relayOf(capabilities: unknown): 'inline' | null {
  const relay = fieldOf(capabilities, 'mention_relay')
  const kind = typeof relay === 'string' ? relay : fieldOf(relay, 'kind')
  return kind === 'inline' ? 'inline' : null
}

/** The chain that stands inside capabilities; undefined for none. */
export function chainInside(capabilities: unknown): unknown {
  return fieldOf(capabilities, 'agent_chain')
}

function readHops(value: unknown): Hops | null {
  const hop = fieldOf(value, 'hop')
  const maxHops = fieldOf(value, 'max_hops')
  if (!Number.isSafeInteger(hop) || !Number.isSafeInteger(maxHops)) return null
  const read = { hop: hop as number, maxHops: maxHops as number }
  return read.hop >= 1 && read.hop <= read.maxHops ? read : null
}

type ReadPath = { readonly ok: true; readonly path: readonly string[] } | Extract<TakenChain, { readonly ok: false }>

/** The addresses up to the caller, in order. */
function pathOf(credential: unknown, { called, caller, canonical }: ChainTerms): ReadPath {
  const given = fieldOf(credential, 'path') ?? []
  if (!Array.isArray(given)) return invalid('credential')
  if (given.length > longestPath) {
    const detail = `The path of the chain has ${given.length} addresses; the limit is ${longestPath}.`
    return { ok: false, code: 'CHAIN_LOOP', detail }
  }
  if (given.some((one) => typeof one !== 'string' || one.length > 400)) return invalid('credential')
  const path = (given as readonly string[]).map(canonical)
  if (caller !== null && path.at(-1) !== canonical(caller)) path.push(canonical(caller))
  if (path.includes(canonical(called)))
    return { ok: false, code: 'CHAIN_LOOP', detail: `${called} stands in the path of this call already.` }
  return { ok: true, path }
}

function rootOf(credential: unknown): string | null {
  const root = fieldOf(credential, 'root')
  return typeof root === 'string' && root.length <= 200 ? root : null
}

const places: Readonly<Record<keyof GivenChains, string>> = {
  message: 'metadata.mentionable.agent_chain',
  capabilities: 'metadata.mentionable.recipient_capabilities.agent_chain',
  credential: 'the claim `witan_chain`',
}

function invalid(place: keyof GivenChains): Extract<TakenChain, { readonly ok: false }> {
  const must = 'must have whole numbers `hop` and `max_hops`, with 1 ≤ hop ≤ max_hops'
  const also = place === 'credential' ? ', and a `path` of addresses' : ''
  return { ok: false, code: 'AGENT_CHAIN_INVALID', detail: `${places[place]} ${must}${also}.` }
}

function fieldOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
  return Reflect.get(value, name)
}
