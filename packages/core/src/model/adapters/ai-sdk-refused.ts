/** Parts of earlier replies that a provider does not take back any more: items that it has deleted, or signatures that it does not know. */
import type { ModelMessage } from '../message.ts'
import type { ModelRequest } from '../model.ts'
import { toCallError } from './ai-sdk-error.ts'

/** The messages whose parts were refused. They go without them from then on, as those of another model do. */
export type RefusedParts = WeakSet<ModelMessage>

/** Asks, and once more without the parts of earlier replies if the provider refuses these. */
export async function withoutRefused<Answer>(
  request: ModelRequest,
  { by, refused }: { readonly by: string; readonly refused: RefusedParts },
  ask: (request: ModelRequest) => PromiseLike<Answer>,
): Promise<Answer> {
  const sent = without(request, refused)
  try {
    return await ask(sent)
  } catch (error) {
    const returned = request.messages.filter((message) => isReturned(message, by) && !refused.has(message))
    if (returned.length === 0 || !isOfParts(error)) throw error
    for (const message of returned) refused.add(message)
    return await ask(without(request, refused))
  }
}

function isReturned(message: ModelMessage, by: string): boolean {
  return message.role === 'assistant' && message.kept?.by === by
}

function without(request: ModelRequest, refused: RefusedParts): ModelRequest {
  if (!request.messages.some((message) => refused.has(message))) return request
  const messages = request.messages.map((message) => {
    if (message.role !== 'assistant' || !refused.has(message)) return message
    const { kept: _, ...plain } = message
    return plain
  })
  return { ...request, messages }
}

/** One for each vendor that was seen to say it so. */
const words = [
  /item with id .{1,200} not found/i, // OpenAI: stored items are kept for a month, and for one account
  /encrypted content .{1,400} could not be (verified|decrypted|decoded)/i, // OpenAI
  /invalid `?signature`? in `?thinking/i, // Anthropic
  /thinking`? blocks .{0,100}cannot be modified/i, // Anthropic
  /(corrupted|invalid) thought.signature|thought.signature is not valid/i, // Google
]

function isOfParts(error: unknown): boolean {
  const { status, message } = toCallError(error)
  return (status === 400 || status === 404) && words.some((one) => one.test(message))
}
