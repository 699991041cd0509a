/** A model that consists of several: if one is not available, the next is asked. */
import { type Model, ModelCallError, type ModelCallOptions, type ModelPart, type ModelRequest } from './model.ts'

/**
 * Asks the first of the models. The next one is asked if a model cannot be reached, denies access, or is still busy after its retries, but
 * not if it refuses the request, and not after the first words have arrived. Each change is reported.
 */
export function withFallbacks(first: Model, others: readonly Model[]): Model {
  return { ...first, stream: (request, options) => inTurn([first, ...others], request, options) }
}

async function* inTurn(
  models: readonly Model[],
  request: ModelRequest,
  options: ModelCallOptions,
): AsyncGenerator<ModelPart> {
  for (const [at, model] of models.entries()) {
    let hasBegun = false
    let hasReasoned = false
    try {
      for await (const part of model.stream(request, options)) {
        if (part.type === 'reasoning') hasReasoned = true
        else hasBegun = true
        yield part.type === 'reply'
          ? { type: 'reply', reply: { ...part.reply, model: part.reply.model ?? model.id } }
          : part
      }
      return
    } catch (error) {
      const next = models[at + 1]
      if (next === undefined || hasBegun || options.signal.aborted || !isUnavailable(error)) throw error
      const detail = `\`${model.id}\` is not available, \`${next.id}\` is asked: ${error.message}`
      options.tell?.({ code: 'MODEL_FALLBACK', detail, model: model.id, next: next.id })
      if (hasReasoned) yield { type: 'reasoning', text: '', restart: true }
    }
  }
}

function isUnavailable(error: unknown): error is ModelCallError {
  return error instanceof ModelCallError && (error.retryable || error.trouble === 'access' || error.trouble === 'quota')
}
