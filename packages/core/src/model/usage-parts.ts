/** Parts of a model's usage that only some replies have. */
import type { ModelUsage } from '@witan/protocol/entries'

/** The tokens that were written to a cache. Nothing where there are none: no entry grows for them. */
export function writtenOf(tokens: number | null): Pick<ModelUsage, 'cacheWriteTokens'> {
  return tokens === null || tokens === 0 ? nothing : { cacheWriteTokens: tokens }
}

const nothing = {}
