/** The embedding models of a runtime: live ones by name, others made from their connection. */
import type { EmbeddingUse } from '@witan/protocol/entries'
import type { Clock } from '../identity/clock.ts'
import { randomNumber } from '../identity/ids.ts'
import { openaiCompatibleEmbedding } from '../model/adapters/openai-compatible-embedding.ts'
import type { Embedded, EmbeddingModel } from '../model/embedding.ts'
import { ModelCallError } from '../model/model.ts'
import { costOfEmbedding } from '../model/price.ts'
import { type PriceTable, priceTable } from '../model/price-table.ts'
import type { RateLimit } from '../model/rate-limit.ts'
import type { PlacedRequest } from '../telemetry/metrics.ts'
import { retried } from '../model/retry.ts'
import { sleeper } from './models.ts'
import type { RuntimeOptions } from './options.ts'

/** What places texts by models, each by its name. Both try again as model calls do. */
interface Embeddings {
  /** A list of numbers for each of up to 16 texts. Rejects where the model fails, or is unknown. What it used is counted for the database. */
  texts(model: string, texts: readonly string[], of: Omit<Placing, 'embedded'>): Promise<readonly (readonly number[])[]>
  /** The numbers of a query; null where the model fails, or is unknown, which is reported. */
  query(model: string, text: string, of: Placing): Promise<readonly number[] | null>
  /** True if a model of that name is there, and nothing says what its tokens cost. */
  lacksPrice(model: string): boolean
}

/** What texts are placed for. */
interface Placing {
  readonly database: string
  readonly signal: AbortSignal
  /** What its requests have used so far. One without a reply stands here as unknown, while it lasts and if it may have cost something. */
  readonly embedded: EmbeddingUse[]
}

/** A reply to 16 texts that names more tokens is not believed: their sums would lose their last digits. */
const mostTokens = 1_000_000

/** What they need of a runtime. */
export interface EmbeddingContext {
  readonly clock: Clock
  rateLimitOf(connection: string): RateLimit | undefined
  report(error: unknown): void
  /** Counts what no run has used. Never rejects. */
  spent(database: string, used: readonly EmbeddingUse[]): Promise<void>
  /** Called for each request that gave a reply; `tokens` is null where that did not say. */
  placed(database: string, request: PlacedRequest): void
}

/** What places texts in a runtime. Requests keep to the limits of their connection. */
export function embeddingsOf(options: RuntimeOptions, context: EmbeddingContext): Embeddings {
  const { clock, rateLimitOf, report } = context
  const made = new Map<string, EmbeddingModel>(Object.entries(options.embeddings ?? {}))
  const { totalMs: _, ...retry } = options.retry ?? {}
  const tries = { ...retry, sleep: sleeper(clock), random: options.random ?? randomNumber }
  const { prices = priceTable } = options
  const find = (name: string) => {
    const model = made.get(name) ?? connect(options, { name, connection: connectionOf(name) })
    if (model !== null) made.set(name, model)
    return model
  }
  const place = async (name: string, list: readonly string[], { database, signal, embedded }: Placing) => {
    const model = find(name)
    if (model === null) throw unknown(name)
    const limit = rateLimitOf(connectionOf(name))
    const ask = async () => {
      await limit?.enter(signal)
      try {
        const from = clock.now()
        const reply = await counted({ name, model, prices }, embedded, () => model.embed(list, signal))
        const { inputTokens } = embedded.at(-1) as EmbeddingUse
        context.placed(database, { model: name, tokens: inputTokens, seconds: (clock.now() - from) / 1000 })
        return reply
      } finally {
        limit?.leave()
      }
    }
    return (await retried(name, ask, { ...tries, signal })).vectors
  }
  return {
    async texts(model, texts, of) {
      const embedded: EmbeddingUse[] = []
      try {
        return await place(model, texts, { ...of, embedded })
      } finally {
        await context.spent(of.database, embedded)
      }
    },
    async query(model, text, of) {
      try {
        return (await place(model, [text], of))[0] ?? null
      } catch (error) {
        of.signal.throwIfAborted()
        report(error)
        return null
      }
    },
    lacksPrice(name) {
      const model = find(name)
      return model !== null && costOfEmbedding(1, model, prices).costUsd === undefined
    },
  }
}

/** The connection that the name of a model begins with; empty if it has none. */
function connectionOf(name: string): string {
  return name.slice(0, Math.max(name.indexOf('/'), 0))
}

/** Makes a request of which `embedded` says what it used. */
async function counted(
  { name, model, prices }: { name: string; model: EmbeddingModel; prices: PriceTable | null },
  embedded: EmbeddingUse[],
  request: () => Promise<Embedded>,
): Promise<Embedded> {
  const unknown: EmbeddingUse = { model: name, inputTokens: null }
  embedded.push(unknown)
  const settle = (...used: readonly EmbeddingUse[]) => embedded.splice(embedded.indexOf(unknown), 1, ...used)
  try {
    const reply = await request()
    const { tokens } = reply
    if (Number.isSafeInteger(tokens) && tokens !== null && tokens >= 0 && tokens <= mostTokens)
      settle({ model: name, inputTokens: tokens, ...costOfEmbedding(tokens, model, prices) })
    return reply
  } catch (error) {
    if (error instanceof ModelCallError && !error.mayHaveCost) settle()
    throw error
  }
}

function connect(
  { connections = {} }: RuntimeOptions,
  { name, connection }: { readonly name: string; readonly connection: string },
): EmbeddingModel | null {
  const found = Object.hasOwn(connections, connection) ? connections[connection] : undefined
  const model = name.slice(connection.length + 1)
  if (found === undefined || typeof found === 'function' || model === '') return null
  const { baseUrl, apiKey, headers, prices = {} } = found
  const price = Object.hasOwn(prices, model) ? prices[model] : undefined
  return openaiCompatibleEmbedding({
    ...{ id: name, baseUrl, model },
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(headers === undefined ? {} : { headers }),
    ...(price === undefined ? {} : { price }),
  })
}

function unknown(name: string): ModelCallError {
  const hint = 'Name it in `embeddings`, or write it as a model of an OpenAI-compatible connection.'
  return new ModelCallError(`There is no embedding model \`${name}\`. ${hint}`, { retryable: false })
}
