/** Who may call an agent directly, as a root, and in whose runs it may use which of its tools. */
import type { ProvenEvidence } from '@witan/protocol/entries'
import { isOutside, type Requester } from './principal.ts'

/**
 * Whom a list admits: `user:<id>`, `key:<id>` or `role:<name>` of the database; an address, every address of a domain (`@*@b.test`), every
 * address (`@*`), or a caller without a credential (`anonymous`); or a list of these that must all hold, where `for:<uri>` is whom the caller
 * acts for, and `from:<uri>` with whom everything began. An address is that of the credential, or the subject of evidence.
 */
type Entry = string | readonly string[]

/** The access lists of an agent. */
interface AgentAccess {
  readonly call: readonly Entry[] | null
  readonly tools?: Readonly<Record<string, readonly Entry[]>> | undefined
}

/** True if `access.call` of an agent admits a principal. Null admits every principal of the database, and nobody from outside [C31]. */
export function mayCall({ call }: Pick<AgentAccess, 'call'>, principal: Requester): boolean {
  return call === null ? !isOutside(principal) : admits(call, principal)
}

/** True if somebody may call without a credential: anybody, or whose evidence proves the rest of a list. */
export function isOpen({ call }: Pick<AgentAccess, 'call'>): boolean {
  return (
    call?.some((entry) => entry === anonymousEntry || (Array.isArray(entry) && entry.includes(anonymousEntry))) === true
  )
}

/** True if an agent may use the tool of that name in a run of this principal. Without a list everybody may. */
export function mayUseTool({ tools }: AgentAccess, name: string, principal: Requester): boolean {
  const entries = tools !== undefined && Object.hasOwn(tools, name) ? tools[name] : undefined
  return entries === undefined || admits(entries, principal)
}

/** One piece of evidence must do for a whole list: two pieces of two callers prove nothing together [E67]. */
function admits(entries: readonly Entry[], principal: Requester): boolean {
  const proofs = [null, ...(principal.incoming?.evidence ?? [])]
  return entries.some((entry) => {
    // Whom somebody claims to act for counts only beside who says so.
    if (typeof entry === 'string') return !isAbout(entry) && proofs.some((proof) => holds(entry, principal, proof))
    return entry.length > 0 && proofs.some((proof) => entry.every((one) => holds(one, principal, proof)))
  })
}

const roleMark = 'role:'
const anonymousEntry = 'anonymous'
const anyAddress = '@*'
const anyOfDomain = '@*@'
/** The immediate principal, and the origin. */
const [forMark, fromMark] = ['for:', 'from:']

function isAbout(entry: string): boolean {
  return entry.startsWith(forMark) || entry.startsWith(fromMark)
}

function holds(entry: string, principal: Requester, proof: ProvenEvidence | null): boolean {
  const { id, roles } = principal
  if (entry.startsWith(roleMark)) return !isOutside(principal) && roles.includes(entry.slice(roleMark.length))
  if (isAbout(entry)) return proof !== null && isActingFor(entry, id, proof)
  if (entry === id) return true
  return [id, ...(proof === null ? [] : [proof.subject])].some((one) => isAddressOf(entry, one))
}

/** Who vouches for somebody else, without saying for whom that one acts, says that the caller acts for that one. */
function isActingFor(entry: string, caller: string, { subject, onBehalfOf }: ProvenEvidence): boolean {
  const all = onBehalfOf.length === 0 && subject !== caller ? [subject] : onBehalfOf
  const [mark, who] = entry.startsWith(forMark) ? [forMark, all[0]] : [fromMark, all.at(-1)]
  return who !== undefined && entry === `${mark}${who}`
}

function isAddressOf(entry: string, id: string): boolean {
  if (!id.startsWith('@')) return false
  return (
    entry === id ||
    entry === anyAddress ||
    (entry.startsWith(anyOfDomain) && id.endsWith(entry.slice(anyAddress.length)))
  )
}
