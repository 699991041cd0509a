/** What model calls cost: a model whose replies say it. */
import { type EmbeddingUse, type ModelUsage, roundCost } from '@witan/protocol/entries'
import type { EmbeddingModel } from './embedding.ts'
import type { Model, ModelListing, ModelPart, ModelPrice, ModelReply } from './model.ts'
import { type PriceTable, type TablePrice, tablePrice } from './price-table.ts'

/** What a call cost; null where the provider did not say what it used, or the price of a long request is not known. */
export function costOf(usage: ModelUsage | null, listed: ModelPrice): number | null {
  if (usage === null || usage.inputTokens === null || usage.outputTokens === null) return null
  const { longInput } = listed
  const price = longInput !== undefined && usage.inputTokens > longInput.moreThan ? longInput.price : listed
  if (price === null) return null
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

/** The cost of tokens of an embedding model, by its own price or by that of a table with its date; empty if neither has one. */
export function costOfEmbedding(
  inputTokens: number,
  { price, listing }: Pick<EmbeddingModel, 'price' | 'listing'>,
  table: PriceTable | null,
): Pick<EmbeddingUse, 'costUsd' | 'priceDate'> {
  const usage = { inputTokens, outputTokens: 0, cachedInputTokens: 0, reasoningTokens: 0 }
  const listed = listing === undefined || table === null ? null : tablePrice(table, listing.vendor, listing.model)
  const known = price ?? listed?.price
  const costUsd = known === undefined ? null : costOf(usage, known)
  if (costUsd === null) return {}
  return price !== undefined || listed === null ? { costUsd } : { costUsd, priceDate: listed.date }
}

/** The same model, whose replies carry their cost: it is stored with them, so that a later price changes no sum of the past. */
export function withPrice(model: Model, price: ModelPrice): Model {
  return { ...priced(model, ({ usage }) => withCost(usage, price)), price }
}

/**
 * The same model, priced from a table by the name that it answers under, else by the one it was asked by. Its replies say of which
 * date their price is. Unchanged where the table has no row for the name it is asked by.
 */
export function withTable(model: Model, listing: ModelListing, table: PriceTable): Model {
  const asked = tablePrice(table, listing.vendor, listing.model)
  if (asked === null) return model
  const listed = ({ model: name }: ModelReply): TablePrice => {
    if (name === null || name === listing.model) return asked
    return tablePrice(table, listing.vendor, name) ?? asked
  }
  const stamped = priced(model, (reply) => {
    const { price, date } = listed(reply)
    const usage = withCost(reply.usage, price)
    return usage?.costUsd === undefined ? usage : { ...usage, priceDate: date }
  })
  return { ...stamped, price: asked.price }
}

function withCost(usage: ModelUsage | null, price: ModelPrice): ModelUsage | null {
  const costUsd = costOf(usage, price)
  return usage === null || costUsd === null ? usage : { ...usage, costUsd }
}

function priced(model: Model, usageOf: (reply: ModelReply) => ModelUsage | null): Model {
  return {
    id: model.id,
    ...(model.kind === undefined ? {} : { kind: model.kind }),
    ...(model.takes === undefined ? {} : { takes: model.takes }),
    stream: (request, options) => ({
      // By hand: an async generator costs several more turns of the microtask queue for each part.
      [Symbol.asyncIterator]() {
        const parts = model.stream(request, options)[Symbol.asyncIterator]()
        return {
          async next() {
            const step = await parts.next()
            return step.done === true ? step : { done: false, value: withUsage(step.value, usageOf) }
          },
          return: () => parts.return?.() ?? Promise.resolve({ done: true, value: undefined }),
        }
      },
    }),
  }
}

function withUsage(part: ModelPart, usageOf: (reply: ModelReply) => ModelUsage | null): ModelPart {
  if (part.type !== 'reply' || part.reply.usage === null) return part
  const usage = usageOf(part.reply)
  return usage === part.reply.usage ? part : { type: 'reply', reply: { ...part.reply, usage } }
}
