/** The contract of a model that places texts. */
import type { ModelListing, ModelPrice } from './model.ts'

/** What a model made of texts: a list of numbers for each, all of one length, and the tokens that it read; null: it did not say. */
export interface Embedded {
  readonly vectors: readonly (readonly number[])[]
  readonly tokens: number | null
}

/** A model that places texts. `embed` never retries; it throws a `ModelCallError`, or the reason of the signal. */
export interface EmbeddingModel {
  readonly id: string
  /** What its tokens cost, where that is known. */
  readonly price?: ModelPrice
  /** Where the price stands in a table, if it has none of its own. */
  readonly listing?: ModelListing
  embed(texts: readonly string[], signal: AbortSignal): Promise<Embedded>
}
