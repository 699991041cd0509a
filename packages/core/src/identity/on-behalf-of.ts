/** For whom a run makes a call: what its own evidence proved, and its caller, the immediate one first and the origin last [M22, M23]. */
import { addressOf } from '@witan/protocol/names'
import type { ProvenEvidence } from '@witan/protocol/entries'
import { isAnonymous, type Principal } from './principal.ts'

/** The most entries of a list. */
const mostPrincipals = 16

/**
 * The piece of evidence that what the run makes goes on from: what has renewed it, else the one about its caller, else the first. Null if
 * it came with none.
 */
export function leadingEvidence({ id, incoming }: Principal): ProvenEvidence | null {
  if (incoming?.renewed !== undefined) return incoming.renewed
  const pieces = incoming?.evidence ?? []
  return pieces.find(({ subject }) => subject === id) ?? pieces[0] ?? null
}

/**
 * For whom an agent of the run acts, the immediate principal first. `domain` makes an address of a person or a program of this server that
 * has none. Of more than 16 those in the middle are left out: the immediate principal and the origin stay. Nobody stands for a caller
 * without a credential.
 */
export function onBehalfOf(principal: Principal, domain: string): readonly string[] {
  const leading = leadingEvidence(principal)
  const caller = isAnonymous(principal) ? [] : [addressOfPrincipal(principal, domain)]
  const about = leading === null || leading.subject === principal.id ? [] : [leading.subject]
  const all = [...caller, ...about, ...(leading?.onBehalfOf ?? [])]
  return all.length <= mostPrincipals ? all : [...all.slice(0, mostPrincipals - 1), ...all.slice(-1)]
}

/** What the evidence of a run proves, with what has renewed a piece in its place. */
export function evidenceNow({ incoming }: Principal): readonly ProvenEvidence[] {
  const { evidence = [], renewed: fresh } = incoming ?? {}
  const isOther = ({ issuer, subject }: ProvenEvidence) => issuer !== fresh?.issuer || subject !== fresh.subject
  return fresh === undefined ? evidence : [fresh, ...evidence.filter(isOther)]
}

/** The principal with fresh evidence of the issuer and subject that its run came with. Its rights stay as they are [E22]. */
export function renewed(principal: Principal, evidence: ProvenEvidence): Principal {
  return Object.freeze({ ...principal, incoming: Object.freeze({ ...principal.incoming, renewed: evidence }) })
}

const longestLocal = 64

/** The address of a principal: its own, or one that is made of its id. */
function addressOfPrincipal({ id, address }: Principal, domain: string): string {
  if (id.startsWith('@')) return id
  if (address !== null) return address
  const name = id.slice(id.indexOf(':') + 1).toLowerCase()
  return addressOf(name.replace(/[^a-z0-9._-]/g, '-').slice(0, longestLocal), domain).text
}
