/** Evidence that its own issuer makes anew for the next recipient, where the configuration knows how to ask for that [E69, M31]. */
import type { ProvenEvidence } from '@witan/protocol/entries'
import type { Clock } from '../identity/clock.ts'
import { runWithoutPause } from '../identity/pausable.ts'
import { plainCopy } from '../identity/plain.ts'
import { readEvidence } from './evidence-piece.ts'
import { isRecord, type JsonRecord } from './record.ts'

/** What an issuer is asked for: evidence of the same subject for one message to one recipient. */
export interface ReissueRequest {
  /** What its own evidence proved when the run began: subject, principals, and the digest by which the issuer may know it again. */
  readonly evidence: ProvenEvidence
  /** The address that is called, or the URL of its card: the one audience of the new piece. */
  readonly audience: string
  readonly messageId: string
  /** Null where no context is sent. */
  readonly thread: string | null
  /** Aborts after five seconds. */
  readonly signal: AbortSignal
}

/** An issuer of evidence that makes it anew for another recipient. */
export interface EvidenceIssuer {
  /** As the evidence names it, such as `https://ids.example`. */
  readonly issuer: string
  /**
   * A signed piece for this message alone, or null for none. It goes out beside the server's own, as it is, if it has the form of evidence, is
   * of this issuer, has `audience` as its only audience, and is at most 16,000 characters of JSON. Where it does not come within five seconds,
   * is another, or the promise rejects, the message goes out without it, and that is reported.
   */
  reissue(request: ReissueRequest): Promise<Readonly<Record<string, unknown>> | null>
}

/** Why an answer is not taken, in words of our own. */
class Unfit extends Error {}

/** With our own piece that makes as many as a message may carry. */
const mostAsked = 3
const longestPiece = 16_000
const patienceMs = 5_000

/** Asks the issuers of these pieces, all at once. Never rejects. */
export type Reissue = (
  pieces: readonly ProvenEvidence[],
  of: Omit<ReissueRequest, 'evidence' | 'signal'>,
) => Promise<readonly JsonRecord[]>

/** Creates what asks them. `report` gets what goes wrong; it repeats nothing of the evidence. */
export function createReissue(
  issuers: readonly EvidenceIssuer[],
  clock: Pick<Clock, 'now' | 'after'>,
  report: (error: unknown) => void,
): Reissue {
  const known = new Map(issuers.map((one) => [one.issuer, one]))

  async function ask(issuer: EvidenceIssuer, request: Omit<ReissueRequest, 'signal'>): Promise<JsonRecord | null> {
    const over = new AbortController()
    const late = new Promise<never>((_, reject) => {
      over.signal.addEventListener('abort', () => reject(new Unfit('it did not answer within five seconds')))
    })
    const cancel = clock.after(patienceMs, () => over.abort(), { background: true })
    try {
      const made = await Promise.race([issuer.reissue({ ...request, signal: over.signal }), late])
      return made === null ? null : checked(made, request)
    } catch (error) {
      // What the issuer's code says may repeat what it was asked.
      const why = error instanceof Unfit ? error.message : 'it failed'
      report(new Error(`The issuer ${issuer.issuer} has made no evidence for the next server: ${why}.`))
      return null
    } finally {
      cancel()
    }
  }

  return async (pieces, of) => {
    const now = clock.now()
    const asked = pieces.flatMap((evidence) => {
      const issuer = evidence.expiresAt > now ? known.get(evidence.issuer) : undefined
      return issuer === undefined ? [] : [{ issuer, evidence }]
    })
    const asking = asked.slice(0, mostAsked).map(({ issuer, evidence }) => ask(issuer, { ...of, evidence }))
    return (await Promise.all(asking)).filter((piece) => piece !== null)
  }
}

/** A copy of a piece that is for this message and nobody else. Throws for any other. */
function checked(made: unknown, { evidence, audience, messageId, thread }: Omit<ReissueRequest, 'signal'>): JsonRecord {
  const { value, isWhole } = runWithoutPause(
    plainCopy(made, { characters: longestPiece, values: longestPiece, isStrict: true }),
  )
  const piece = isWhole ? readEvidence(value) : null
  if (piece === null || !isRecord(value)) throw new Unfit('what it made is no evidence of at most 16,000 characters')
  if (piece.issuer !== evidence.issuer || piece.subject !== evidence.subject)
    throw new Unfit('what it made is of another issuer or about another subject')
  const isForIt = piece.audiences.length === 1 && piece.audiences[0] === audience
  const isBound = (piece.message ?? messageId) === messageId && (piece.thread ?? thread) === thread
  if (!isForIt || !isBound) throw new Unfit('what it made is for another audience, message or thread')
  return value
}
