/** Counts what embedding models are asked for: each request is a figure of its model, and what no run has used is added to the sums of its database. */
import type { EmbeddingUse } from '@witan/protocol/entries'
import type { Store } from '../store/store.ts'
import { usageOfEmbeddings } from '../store/usage-count.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import { type EmbeddingContext, embeddingsOf } from './embeddings.ts'
import type { RuntimeOptions } from './options.ts'

/** What it counts with. */
interface CountingParts extends Omit<EmbeddingContext, 'spent' | 'placed'> {
  readonly store: Pick<Store, 'addUsage'>
  readonly metrics: Metrics | null
}

/** The embedding models of a runtime, and what counts for a database what they used outside of runs. */
export function countedEmbeddings(
  options: RuntimeOptions,
  { store, metrics, ...parts }: CountingParts,
): { readonly embeddings: ReturnType<typeof embeddingsOf>; readonly spent: EmbeddingContext['spent'] } {
  const { clock, report } = parts
  /** What was placed stands, whether it is counted or not. */
  const spent = async (database: string, used: readonly EmbeddingUse[]) => {
    if (used.length > 0) await store.addUsage(database, usageOfEmbeddings(used, clock.now())).catch(report)
  }
  const placed: EmbeddingContext['placed'] = (database, request) => metrics?.placed(database, request)
  return { embeddings: embeddingsOf(options, { ...parts, spent, placed }), spent }
}
