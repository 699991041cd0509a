/** The condition that this server sets itself where evidence has expired: it waits for fresh evidence of the same issuer and subject [E22]. */
import type { Interruption } from '@witan/protocol'
import type { ProvenEvidence } from '@witan/protocol/entries'
import type { InterruptionDraft } from '../tool/waiting.ts'

/** Where the condition says which evidence has expired. */
const evidenceKey = 'dev.witan.evidence'

/** Asks for it in the name of the agent that would call. People and the caller read it, and no model. */
export function askForEvidence(agent: string, { issuer, subject, digest }: ProvenEvidence): InterruptionDraft {
  const policy = {
    kind: 'unauthorized',
    code: 'EVIDENCE_EXPIRED',
    title: 'The evidence has expired',
    message: `The evidence about ${subject} by ${issuer} has expired, and a call of another server would go on from it. Send a message with fresh evidence of both, or let the call go out without.`,
    data: { [evidenceKey]: { issuer, subject, digest } },
  }
  return { kind: 'policy', issuer: agent, policy }
}

interface Expired {
  readonly issuer: string
  readonly subject: string
  readonly digest: string
}

/** The evidence that a condition asks for anew; null for any other one. The issuer of what a remote demands is an address or a URL. */
export function expiredEvidence(asked: Interruption): Expired | null {
  if (asked.kind !== 'policy' || /[@:]/.test(asked.issuer)) return null
  const { data } = asked.policy as { readonly data?: Readonly<Record<string, Expired>> }
  return data?.[evidenceKey] ?? null
}

/** The piece that resolves a condition; null if none of them does. */
export function freshEvidence(asked: Interruption, pieces: readonly ProvenEvidence[] = []): ProvenEvidence | null {
  const of = expiredEvidence(asked)
  if (of === null) return null
  const isFresh = ({ issuer, subject, digest }: ProvenEvidence) =>
    issuer === of.issuer && subject === of.subject && digest !== of.digest
  return pieces.find(isFresh) ?? null
}
