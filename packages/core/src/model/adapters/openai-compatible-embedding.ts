/** A model that places texts, behind any server that speaks OpenAI's embeddings. */
import { readJson } from '@witan/protocol/schemas'
import type { Embedded, EmbeddingModel } from '../embedding.ts'
import { ModelCallError, type ModelPrice } from '../model.ts'
import { vendorAt } from '../price-table.ts'
import { type Server, type ServerOptions, serverAt } from './openai-compatible-address.ts'
import { errorOfExcess, errorOfNetwork, errorOfResponse, errorOfSize, errorOfText } from './openai-compatible-error.ts'
import { watchCall } from './openai-compatible-watch.ts'

/** Where an embedding model is and how to call it. */
interface OpenAICompatibleEmbeddingOptions extends ServerOptions {
  /** The name the server knows the model by. */
  readonly model: string
  /** The name in logs and usage. Default: `<host>/<model>`. */
  readonly id?: string
  /** What its tokens cost, for sums in money. */
  readonly price?: ModelPrice
  /** How long one request may take. Default 60 000. */
  readonly timeoutMs?: number
  /** What makes the request. Default: the platform's `fetch`. */
  readonly fetch?: typeof fetch
}

/** A reply is read no further than this. */
const mostBytes = 4_000_000

/** Calls `POST {baseUrl}/embeddings`. Throws `CONFIG_INVALID` here for an address or a header that can never work. */
export function openaiCompatibleEmbedding(options: OpenAICompatibleEmbeddingOptions): EmbeddingModel {
  const server = serverAt(options, '/embeddings')
  const { model, price, timeoutMs = 60_000 } = options
  const vendor = vendorAt(server.url.host)
  const send = options.fetch ?? fetch
  const limits = { silenceMs: timeoutMs, totalMs: timeoutMs }
  return {
    id: options.id ?? `${server.url.host}/${model}`,
    ...(price === undefined ? {} : { price }),
    ...(vendor === null ? {} : { listing: { vendor, model } }),
    async embed(texts, signal) {
      const { url, headers, called } = server
      const watch = watchCall(signal, limits)
      try {
        watch.wait()
        const body = JSON.stringify({ model, input: texts, encoding_format: 'float' })
        const response = await send(url.href, {
          method: 'POST',
          redirect: 'manual',
          headers,
          body,
          signal: watch.signal,
        })
        if (!response.ok) throw await errorOfResponse(response, called)
        return readReply(await textOf(response, server), { server, count: texts.length })
      } catch (error) {
        signal.throwIfAborted()
        throw error instanceof ModelCallError ? error : errorOfNetwork(error, called)
      } finally {
        watch.close()
      }
    },
  }
}

async function textOf(response: Response, { called }: Server): Promise<string> {
  const parts: Uint8Array[] = []
  let bytes = 0
  for await (const part of response.body ?? []) {
    bytes += part.byteLength
    if (bytes > mostBytes) throw errorOfSize(mostBytes, called)
    parts.push(part)
  }
  return Buffer.concat(parts).toString()
}

function readReply(text: string, { server, count }: { readonly server: Server; readonly count: number }): Embedded {
  const { called } = server
  const json = readJson(text)
  if (!json.ok) throw json.isExcess ? errorOfExcess(json.problem, called) : errorOfText(text, called)
  const { data, usage } = (json.value ?? {}) as Readonly<Record<string, unknown>>
  const vectors: (readonly number[])[] = []
  for (const [at, item] of (Array.isArray(data) ? data : []).entries()) {
    const { index = at, embedding } = (item ?? {}) as Readonly<Record<string, unknown>>
    // A number with more digits than JavaScript keeps was read as text.
    const numbers = Array.isArray(embedding) ? embedding.map(Number) : []
    if (typeof index === 'number' && numbers.length > 0 && numbers.every(Number.isFinite)) vectors[index] = numbers
  }
  if (vectors.length !== count || Object.keys(vectors).length !== count)
    throw new ModelCallError(`${called.name} sent no list of numbers for each of ${count} texts.`, { retryable: false })
  const { prompt_tokens: tokens } = (usage ?? {}) as Readonly<Record<string, unknown>>
  return { vectors, tokens: typeof tokens === 'number' ? tokens : null }
}
