/** An embedding model of any AI SDK provider. The package of the provider is the user's; this file knows only its structure. */
import { WitanError } from '@witan/protocol'
import type { EmbeddingModel } from '../embedding.ts'
import { toCallError } from './ai-sdk-error.ts'

/** An embedding model of specification V2, V3 or V4, such as `openai.embedding('text-embedding-3-small')`. */
export interface AiSdkEmbeddingModel {
  readonly specificationVersion: string
  readonly provider: string
  readonly modelId: string
  readonly maxEmbeddingsPerCall: PromiseLike<number | undefined> | number | undefined
  doEmbed(options: { values: string[]; abortSignal: AbortSignal }): PromiseLike<{
    readonly embeddings: readonly (readonly number[])[]
    readonly usage?: { readonly tokens: number } | undefined
  }>
}

/** Wraps an AI SDK embedding model. Throws `CONFIG_INVALID` for any other value. */
export function aiSdkEmbedding(model: AiSdkEmbeddingModel, options: { readonly id?: string } = {}): EmbeddingModel {
  if (
    typeof model !== 'object' ||
    !/^v[234]$/.test(model?.specificationVersion) ||
    typeof model.doEmbed !== 'function'
  ) {
    const hint = 'Pass a model object of an AI SDK provider, such as openai.embedding("text-embedding-3-small").'
    throw new WitanError('CONFIG_INVALID', 'This is no embedding model of the AI SDK, specification V2 to V4.', {
      hint,
    })
  }
  return {
    id: options.id ?? `${model.provider}/${model.modelId}`,
    listing: { vendor: model.provider.split('.')[0] ?? '', model: model.modelId },
    async embed(texts, signal) {
      signal.throwIfAborted()
      const atOnce = Math.max((await model.maxEmbeddingsPerCall) ?? texts.length, 1)
      const vectors: (readonly number[])[] = []
      let tokens: number | null = 0
      try {
        for (let from = 0; from < texts.length; from += atOnce) {
          const values = texts.slice(from, from + atOnce)
          const { embeddings, usage } = await model.doEmbed({ values, abortSignal: signal })
          vectors.push(...embeddings)
          tokens = tokens === null || usage === undefined ? null : tokens + usage.tokens
        }
      } catch (error) {
        throw signal.aborted ? signal.reason : toCallError(error)
      }
      return { vectors, tokens }
    },
  }
}
