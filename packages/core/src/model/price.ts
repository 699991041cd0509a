/** What model calls cost: a model whose replies say it. */
import { type ModelUsage, roundCost } from '@witan/protocol/entries'
import type { Model, ModelPart, ModelPrice } from './model.ts'

/** What a call cost; null where the provider did not say what it used. */
export function costOf(usage: ModelUsage | null, price: ModelPrice): number | null {
  if (usage === null || usage.inputTokens === null || usage.outputTokens === null) return null
  const { inputPerMillion, outputPerMillion } = price
  const { cachedInputPerMillion = inputPerMillion, cacheWritePerMillion = inputPerMillion } = price
  const cached = Math.min(usage.cachedInputTokens, usage.inputTokens)
  const written = Math.min(usage.cacheWriteTokens ?? 0, usage.inputTokens - cached)
  const millions =
    (usage.inputTokens - cached - written) * inputPerMillion +
    cached * cachedInputPerMillion +
    written * cacheWritePerMillion +
    usage.outputTokens * outputPerMillion
  return roundCost(millions / 1_000_000)
}

/** The same model, whose replies carry their cost: it is stored with them, so that a later price changes no sum of the past. */
export function withPrice(model: Model, price: ModelPrice): Model {
  return {
    id: model.id,
    ...(model.kind === undefined ? {} : { kind: model.kind }),
    price,
    stream: (request, options) => ({
      // By hand: an async generator costs several more turns of the microtask queue for each part.
      [Symbol.asyncIterator]() {
        const parts = model.stream(request, options)[Symbol.asyncIterator]()
        return {
          async next() {
            const step = await parts.next()
            return step.done === true ? step : { done: false, value: priced(step.value, price) }
          },
          return: () => parts.return?.() ?? Promise.resolve({ done: true, value: undefined }),
        }
      },
    }),
  }
}

function priced(part: ModelPart, price: ModelPrice): ModelPart {
  if (part.type !== 'reply' || part.reply.usage === null) return part
  const costUsd = costOf(part.reply.usage, price)
  if (costUsd === null) return part
  return { type: 'reply', reply: { ...part.reply, usage: { ...part.reply.usage, costUsd } } }
}
