/** When a document that could not be read again is tried once more. */
import type { KnowledgeBase } from '@witan/protocol/knowledge'
import { readingOf } from '../knowledge/digest.ts'
import type { DocumentEnd, DocumentRow } from '../knowledge/records.ts'

/** How often it is tried, for as long as neither it nor its base changes. */
const mostTries = 5
/** How long after the first try the second comes, in ms; each later one takes four times as long. */
const firstWaitMs = 300_000

/** The end of a document that was to be read again and failed by itself, with when it is tried next. Another end as it is. */
export function withFailure(
  { now }: { now(): number },
  { base, row }: { readonly base: KnowledgeBase; readonly row: Pick<DocumentRow, 'digest' | 'failure'> },
  end: DocumentEnd,
): DocumentEnd {
  if (end.kind !== 'failed') return end
  const reading = readingOf(base)
  const before = row.failure?.reading === reading ? row.failure.attempts : 0
  const [at, attempts] = [now(), before + 1]
  const retryAt = attempts < mostTries ? at + firstWaitMs * 4 ** before : null
  const { code, detail } = end
  return { ...end, failure: { code, detail, at, reading, attempts, retryAt }, over: row.digest }
}
