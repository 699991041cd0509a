/** Makes a model call and returns only its reply. */
import { type Model, ModelCallError, type ModelCallOptions, type ModelReply, type ModelRequest } from './model.ts'

/** The reply, without the parts before it. Throws a `ModelCallError` if the stream ends without one. */
export async function readReply(model: Model, request: ModelRequest, options: ModelCallOptions): Promise<ModelReply> {
  for await (const part of model.stream(request, options)) if (part.type === 'reply') return part.reply
  throw new ModelCallError('the model ended its stream without a reply', { retryable: false })
}
