/** A model of any AI SDK provider. The package of the provider is the user's; this file knows only its structure. */
import { WitanError } from '@witan/protocol'
import type { Model, ModelCallOptions, ModelPart, ModelPrice, ModelRequest } from '../model.ts'
import { ModelCallError } from '../model.ts'
import { toCallError } from './ai-sdk-error.ts'
import { toCall } from './ai-sdk-prompt.ts'
import { addPart, emptyReply, finishReply, fromResult } from './ai-sdk-reply.ts'
import type { AiSdkLanguageModel, AiSdkStream } from './ai-sdk-types.ts'

/**
 * Wraps a language model of specification V2, V3 or V4, such as `openai('gpt-5')`. With deltas it is streamed, otherwise the
 * plain call is used, which costs a fraction. `price`: what its tokens cost, for sums and limits in money. Throws `CONFIG_INVALID` for anything else, such as a bare model name.
 */
export function aiSdkModel(
  model: AiSdkLanguageModel,
  options: { readonly id?: string; readonly price?: ModelPrice } = {},
): Model {
  if (typeof model !== 'object' || !['v2', 'v3', 'v4'].includes(model?.specificationVersion)) {
    const hint = 'Pass a model object of an AI SDK provider, such as openai("gpt-5").'
    throw new WitanError('CONFIG_INVALID', 'This is no language model of the AI SDK, specification V2 to V4.', { hint })
  }
  return {
    id: options.id ?? `${model.provider}/${model.modelId}`,
    ...(options.price === undefined ? {} : { price: options.price }),
    stream: (request, call) => ({
      [Symbol.asyncIterator]: () => (call.deltas ? streamed(model, request, call) : generated(model, request, call)),
    }),
  }
}

const end = { done: true, value: undefined } as const
const ignore = (): void => undefined

// Both iterators are written by hand: an async generator costs several more turns of the microtask queue for each part.
function generated(model: AiSdkLanguageModel, request: ModelRequest, call: ModelCallOptions): AsyncIterator<ModelPart> {
  let asked = false
  const ask = async (): Promise<IteratorResult<ModelPart>> => {
    asked = true
    call.signal.throwIfAborted()
    try {
      const result = await unlessAborted(
        model.doGenerate(toCall(request, call, model.specificationVersion)),
        call.signal,
      )
      return { done: false, value: { type: 'reply', reply: fromResult(result, request) } }
    } catch (error) {
      throw call.signal.aborted ? call.signal.reason : toCallError(error)
    }
  }
  return { next: () => (asked ? Promise.resolve(end) : ask()), return: () => Promise.resolve(end) }
}

type PartReader = ReturnType<AiSdkStream['getReader']>

function streamed(model: AiSdkLanguageModel, request: ModelRequest, call: ModelCallOptions): AsyncIterator<ModelPart> {
  const { signal } = call
  const reply = emptyReply()
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
    const opening = model.doStream(toCall(request, call, model.specificationVersion))
    signal.addEventListener('abort', onAbort, { once: true })
    const { stream } = await unlessAborted(opening, signal).catch((error: unknown) => {
      // A provider that does not listen may still open the stream: nobody would ever read or close it.
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
          close()
          return { done: false, value: { type: 'reply', reply: finishReply(reply) } }
        }
        const text = addPart(reply, value)
        if (text === '') continue
        given = true
        return { done: false, value: { type: 'delta', text } }
      }
    } catch (error) {
      close()
      onAbort()
      throw signal.aborted ? signal.reason : afterText(toCallError(error), given)
    }
  }
  const stop = async (): Promise<IteratorResult<ModelPart>> => {
    if (!over) onAbort()
    close()
    return end
  }
  return { next, return: stop }
}

/** An error once text was given: another try would say it twice. */
function afterText(error: ModelCallError, given: boolean): ModelCallError {
  if (!given || !error.retryable) return error
  return new ModelCallError(error.message, {
    ...(error.status === null ? {} : { status: error.status }),
    retryable: false,
  })
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
