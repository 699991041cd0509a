/** A model of any AI SDK provider. The package of the provider is the user's; this file knows only its structure. */
import { WitanError } from '@witan/protocol'
import type { Model, ModelCallOptions, ModelPart, ModelReply, ModelRequest } from '../model.ts'
import { afterText, asCostly } from '../model.ts'
import { type ModelSettings, settingsWith } from '../settings.ts'
import { toCallError } from './ai-sdk-error.ts'
import { keeperOf } from './ai-sdk-kept.ts'
import { toCall } from './ai-sdk-prompt.ts'
import { withoutRefused, type RefusedParts } from './ai-sdk-refused.ts'
import { addPart, addResult, emptyReply, finishReply, fromResult, pausedReply, reasoningIn } from './ai-sdk-reply.ts'
import type { AiSdkLanguageModel, AiSdkStream, AiSdkWarning } from './ai-sdk-types.ts'

/**
 * Wraps an AI SDK language model of specification V2, V3 or V4, such as `openai('gpt-5')`. Throws `CONFIG_INVALID` for any other
 * value, such as a model name. Streams if the call asks for deltas; otherwise uses the plain call, which needs less work.
 * `price`: the price of its tokens, for cost sums and money limits. `takes`: the media types of files
 * that it takes; without it every file is sent, and the provider decides [Rb53].
 */
export function aiSdkModel(
  model: AiSdkLanguageModel,
  options: ModelSettings & Pick<Model, 'price' | 'takes'> & { readonly id?: string } = {},
): Model {
  if (typeof model !== 'object' || !['v2', 'v3', 'v4'].includes(model?.specificationVersion)) {
    const hint = 'Pass a model object of an AI SDK provider, such as openai("gpt-5").'
    throw new WitanError('CONFIG_INVALID', 'This is no language model of the AI SDK, specification V2 to V4.', { hint })
  }
  const side: Side = { model, by: keeperOf(model), refused: new WeakSet() }
  const isSet = options.maxOutputTokens !== undefined || options.providerOptions !== undefined
  return {
    id: options.id ?? `${model.provider}/${model.modelId}`,
    ...(options.price === undefined ? {} : { price: options.price }),
    listing: { vendor: model.provider.split('.')[0] ?? '', model: model.modelId },
    ...(options.takes === undefined ? {} : { takes: options.takes }),
    stream: (request, call) => ({
      [Symbol.asyncIterator]: () => {
        const asked = isSet ? { ...request, ...settingsWith(request, options) } : request
        return call.deltas ? streamed(side, asked, call) : generated(side, asked, call)
      },
    }),
  }
}

/** A model, the name of its parts in replies, and those that its provider has refused. */
interface Side {
  readonly model: AiSdkLanguageModel
  readonly by: string
  readonly refused: RefusedParts
}

const end = { done: true, value: undefined } as const
const ignore = (): void => undefined

// Both iterators are written by hand: an async generator costs several more turns of the microtask queue for each part.
function generated(side: Side, request: ModelRequest, call: ModelCallOptions): AsyncIterator<ModelPart> {
  let asked = false
  const ask = async (): Promise<IteratorResult<ModelPart>> => {
    asked = true
    call.signal.throwIfAborted()
    try {
      return { done: false, value: { type: 'reply', reply: await generatedReply(side, request, call) } }
    } catch (error) {
      throw call.signal.aborted ? call.signal.reason : toCallError(error)
    }
  }
  return { next: () => (asked ? Promise.resolve(end) : ask()), return: () => Promise.resolve(end) }
}

/** How often a model may pause in one turn. */
const mostPauses = 16

async function generatedReply(side: Side, request: ModelRequest, call: ModelCallOptions): Promise<ModelReply> {
  const { model, by } = side
  const reply = emptyReply(call)
  let asked = request
  for (let pauses = 0; ; pauses += 1) {
    const answer = withoutRefused(asked, side, (one) => model.doGenerate(toCall(one, call, model)))
    const result = await unlessAborted(answer, call.signal).catch((error) => {
      throw pauses === 0 ? error : asCostly(toCallError(error))
    })
    addResult(reply, result)
    tellWarnings(result.warnings, call)
    const paused = pauses < mostPauses ? pausedReply(reply, by) : null
    if (paused === null) return fromResult(reply, result, { request, by })
    asked = { ...request, messages: [...request.messages, paused] }
  }
}

/** What the provider's package could not do as it was asked. */
function tellWarnings(warnings: readonly AiSdkWarning[] = [], { tell }: ModelCallOptions): void {
  for (const { type, feature, setting, message, details } of warnings) {
    const what = message ?? `${feature ?? setting ?? type}${type.startsWith('unsupported') ? ' is not supported' : ''}`
    tell?.({ code: 'MODEL_WARNING', detail: `${what}${details === undefined ? '' : `: ${details}`}`.slice(0, 500) })
  }
}

type PartReader = ReturnType<AiSdkStream['getReader']>

function streamed(side: Side, request: ModelRequest, call: ModelCallOptions): AsyncIterator<ModelPart> {
  const { signal } = call
  const { model, by } = side
  const reply = emptyReply(call)
  let asked = request
  let pauses = 0
  let reader: PartReader | undefined
  let given = false
  let over = false
  // Cancelling ends a pending read at once, also where the provider does not listen to the signal.
  const onAbort = () => void reader?.cancel(signal.reason).catch(ignore)
  const close = (): void => {
    over = true
    signal.removeEventListener('abort', onAbort)
  }
  const open = async (): Promise<PartReader> => {
    signal.throwIfAborted()
    const opening = withoutRefused(asked, side, (one) => model.doStream(toCall(one, call, model)))
    signal.addEventListener('abort', onAbort, { once: true })
    const { stream } = await unlessAborted(opening, signal).catch((error: unknown) => {
      // A provider that ignores the abort may still open the stream, and nobody would read or close it.
      opening.then(({ stream: late }) => late.getReader().cancel(), ignore).then(ignore, ignore)
      throw error
    })
    reader = stream.getReader()
    signal.throwIfAborted()
    return reader
  }
  const next = async (): Promise<IteratorResult<ModelPart>> => {
    if (over) return end
    try {
      reader ??= await open()
      for (;;) {
        const { done, value } = await reader.read()
        if (signal.aborted) throw signal.reason
        if (done || value === undefined) {
          const paused = pauses < mostPauses ? pausedReply(reply, by) : null
          if (paused === null) {
            close()
            return { done: false, value: { type: 'reply', reply: finishReply(reply, by) } }
          }
          pauses += 1
          asked = { ...request, messages: [...request.messages, paused] }
          reply.finish = null
          reader = await open()
          continue
        }
        if (value.type === 'stream-start') tellWarnings(value.warnings, call)
        const text = addPart(reply, value)
        if (text !== '') {
          given = true
          return { done: false, value: { type: 'delta', text } }
        }
        const reasoning = reasoningIn(reply, value)
        if (reasoning !== '') return { done: false, value: { type: 'reasoning', text: reasoning } }
      }
    } catch (error) {
      close()
      onAbort()
      if (signal.aborted) throw signal.reason
      const failed = toCallError(error)
      throw given ? afterText(failed) : reply.content.length === 0 ? failed : asCostly(failed)
    }
  }
  const stop = async (): Promise<IteratorResult<ModelPart>> => {
    if (!over) onAbort()
    close()
    return end
  }
  return { next, return: stop }
}

function unlessAborted<T>(answer: PromiseLike<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
    answer.then(
      (value) => {
        signal.removeEventListener('abort', abort)
        resolve(value)
      },
      (error: unknown) => {
        signal.removeEventListener('abort', abort)
        reject(error)
      },
    )
  })
}
