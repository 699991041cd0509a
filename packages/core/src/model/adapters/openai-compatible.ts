/** A model behind any server that speaks OpenAI's chat completions: hosted ones, gateways, and local servers. */
import { WitanError } from '@witan/protocol'
import { providerOptionsSchema } from '@witan/protocol/schemas'
import { keptAddress } from '../kept-address.ts'
import type { Model, ModelCallOptions, ModelPart, ModelPrice, ModelRequest } from '../model.ts'
import { afterText, asCostly, ModelCallError } from '../model.ts'
import { vendorAt } from '../price-table.ts'
import { type ModelSettings, settingsWith } from '../settings.ts'
import { type Server, type ServerOptions, serverAt } from './openai-compatible-address.ts'
import { errorOfEnd, errorOfNetwork, errorOfResponse } from './openai-compatible-error.ts'
import { refusesThoughts, type Wanted, wantedBy } from './openai-compatible-kept.ts'
import type { ReadState, ReplyReader } from './openai-compatible-read.ts'
import { createReplyReader } from './openai-compatible-read.ts'
import { finishReply, hasBegun, takeFresh, takeReasoning } from './openai-compatible-reply.ts'
import { type LimitKey, requestBody } from './openai-compatible-request.ts'
import { type CallLimits, watchCall } from './openai-compatible-watch.ts'

/** Where a model is and how to call it. */
export interface OpenAICompatibleOptions extends ModelSettings, ServerOptions {
  /** The name the server knows the model by. */
  readonly model: string
  /**
   * How long the server may send nothing of its reply, at its beginning and in it; comments that keep a connection open are nothing.
   * Default 300 000: a local server may read a long prompt slowly.
   */
  readonly timeoutMs?: number
  /** How long one reply may take in all, with the time that its reader takes. Default 3 600 000. */
  readonly totalTimeoutMs?: number
  /** The name in logs and usage. Default: `<host>/<model>`. */
  readonly id?: string
  /** What its tokens cost, for sums and limits in money. */
  readonly price?: ModelPrice
  /**
   * The media types of files that the model takes, such as `['image/*']`; `[]` for none. Default: those that chat completions can
   * carry, pictures, WAV and MP3, and PDF: whether the model reads them, only its server knows [Rb53].
   */
  readonly takes?: readonly string[]
  /** What makes the request, such as one that refuses private addresses [D21]. Default: the platform's `fetch`. */
  readonly fetch?: typeof fetch
}

/**
 * Calls `POST {baseUrl}/chat/completions` with `stream: true` and takes a streamed or a plain reply. It needs no package and
 * never retries. Throws `CONFIG_INVALID` here for an address or a header that can never work.
 */
export function openaiCompatible(options: OpenAICompatibleOptions): Model {
  const connection = connect(options)
  const stream: Model['stream'] = (request, call) => converse(connection, request, call)
  const vendor = vendorAt(new URL(connection.url).host)
  return {
    id: connection.id,
    ...(options.price === undefined ? {} : { price: options.price }),
    ...(vendor === null ? {} : { listing: { vendor, model: options.model } }),
    takes: options.takes ?? carried,
    stream,
  }
}

const carried = ['image/*', 'audio/wav', 'audio/x-wav', 'audio/mpeg', 'audio/mp3', 'application/pdf']

interface Connection extends Omit<Server, 'url'> {
  readonly id: string
  readonly url: string
  readonly model: string
  readonly limits: CallLimits
  readonly fetch: typeof fetch
  /** Whose kept parts it takes back; empty once the server has refused such parts. */
  keeper: string
  /** What every reply goes with, be it empty: once the server has asked for it. */
  wanted: Wanted | null
  /** The newer name once the server has asked for it. */
  limitKey: LimitKey
  readonly settings: ModelSettings
}

function connect(options: OpenAICompatibleOptions): Connection {
  const { model, timeoutMs = 300_000, totalTimeoutMs = 3_600_000 } = options
  const { url, headers, called } = serverAt(options, '/chat/completions')
  return {
    id: options.id ?? `${url.host}/${model}`,
    url: url.href,
    model,
    headers,
    called,
    limits: { silenceMs: timeoutMs, totalMs: totalTimeoutMs },
    fetch: options.fetch ?? fetch,
    keeper: `openai-compatible ${keptAddress(url)} ${model}`,
    wanted: null,
    limitKey: 'max_tokens',
    settings: checkedSettings(options),
  }
}

function checkedSettings({ maxOutputTokens, providerOptions }: ModelSettings): ModelSettings {
  const checked = providerOptionsSchema.optional().safeParse(providerOptions)
  if (!checked.success) {
    const [issue] = checked.error.issues
    const path = ['providerOptions', ...(issue?.path ?? [])].join('.')
    throw new WitanError('CONFIG_INVALID', `${issue?.message}.`, { path, hint: 'Leave the key out.' })
  }
  return settingsWith(
    { ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }) },
    { ...(providerOptions === undefined ? {} : { providerOptions }) },
  )
}

async function* converse(
  connection: Connection,
  request: ModelRequest,
  call: ModelCallOptions,
): AsyncGenerator<ModelPart> {
  const { signal } = call
  signal.throwIfAborted()
  const reader = await open(connection, request, call)
  let given = false
  try {
    for (let state: ReadState = 'open'; state === 'open'; ) {
      state = await reader.advance()
      signal.throwIfAborted()
      // Text of one chunk becomes one delta, because each delta has a cost.
      const reasoning = takeReasoning(reader.reply)
      if (reasoning !== '') yield { type: 'reasoning', text: reasoning }
      const text = takeFresh(reader.reply)
      if (text !== '') {
        given = true
        yield { type: 'delta', text }
      }
      if (typeof state === 'object') throw given ? afterText(state) : hasBegun(reader.reply) ? asCostly(state) : state
    }
  } finally {
    reader.close()
  }
  yield { type: 'reply', reply: finishReply(reader.reply, connection.keeper) }
}

/** How often one request is sent again in another form, after the server has said what it does not accept. */
const mostLessons = 3

/** Sends the request and returns the reader of its reply. What a refusal says of fields and their names counts from then on. */
async function open(connection: Connection, request: ModelRequest, call: ModelCallOptions): Promise<ReplyReader> {
  for (let lessons = 0; ; lessons += 1) {
    // As it is now: calls at the same time may be refused for the same reason.
    const { keeper, wanted, limitKey } = connection
    try {
      return await send(connection, request, call)
    } catch (error) {
      const isLearned =
        error instanceof ModelCallError && learn(connection, request, { error, keeper, wanted, limitKey })
      if (!isLearned || lessons === mostLessons) throw error
    }
  }
}

/** Changes what the connection sends; false where the refusal says nothing of that, or not of this request. */
function learn(
  connection: Connection,
  { messages }: ModelRequest,
  { error, ...sent }: Pick<Connection, 'keeper' | 'wanted' | 'limitKey'> & { readonly error: ModelCallError },
): boolean {
  const replies = messages.filter((message) => message.role === 'assistant')
  const wanted = wantedBy(error)
  if (refusesThoughts(error) && sent.keeper !== '' && replies.some(({ kept }) => kept?.by === sent.keeper))
    connection.keeper = ''
  else if (wanted !== null && wanted !== sent.wanted && replies.length > 0) connection.wanted = wanted
  else if (error.status === 400 && sent.limitKey === 'max_tokens' && error.message.includes('max_completion_tokens'))
    connection.limitKey = 'max_completion_tokens'
  else return false
  return true
}

async function send(
  connection: Connection,
  request: ModelRequest,
  { signal, reasoning, traceparent }: ModelCallOptions,
): Promise<ReplyReader> {
  const { called, url } = connection
  const headers = traceparent === undefined ? connection.headers : { ...connection.headers, traceparent }
  const watch = watchCall(signal, connection.limits)
  const body = requestBody(connection.model, request, connection)
  try {
    watch.wait()
    const response = await connection.fetch(url, {
      method: 'POST',
      redirect: 'manual',
      headers,
      body,
      signal: watch.signal,
    })
    if (!response.ok) throw await errorOfResponse(response, called)
    watch.pause()
    watch.received()
    if (response.body === null) throw errorOfEnd(called)
    return createReplyReader(response.body, { request, shows: reasoning === true, called, watch })
  } catch (error) {
    watch.close()
    signal.throwIfAborted()
    throw error instanceof ModelCallError ? error : errorOfNetwork(error, called)
  }
}
