/** What several ingests have done, as one. */
import type { Ingest } from '@witan/protocol/knowledge'

/** What several ingests have done together. */
export type IngestSum = Pick<
  Ingest,
  'status' | 'total' | 'done' | 'added' | 'changed' | 'unchanged' | 'deleted' | 'failed'
>

/** The sum of ingests; null for none. */
export function sumOf(ingests: readonly Ingest[]): IngestSum | null {
  if (ingests.length === 0) return null
  const sum = (count: (ingest: Ingest) => number) => ingests.reduce((all, one) => all + count(one), 0)
  return {
    status: ingests.every(({ status }) => status === 'completed') ? 'completed' : 'running',
    total: sum(({ total }) => total),
    done: sum(({ done }) => done),
    added: sum(({ added }) => added),
    changed: sum(({ changed }) => changed),
    unchanged: sum(({ unchanged }) => unchanged),
    deleted: sum(({ deleted }) => deleted),
    failed: ingests.flatMap(({ failed }) => failed),
  }
}
