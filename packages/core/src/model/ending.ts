/** Why a reply ended, read from the words of providers: the same for every adapter. */
import type { ReplyFinish } from './model.ts'

/** In lower case: a server may hand on the word of the model behind it, as those of Google and Mistral do. */
const endings: Readonly<Record<string, ReplyFinish>> = {
  stop: 'stop',
  length: 'length',
  max_tokens: 'length',
  max_output_tokens: 'length',
  model_length: 'length',
  model_context_window_exceeded: 'length',
  content_filter: 'content_filter',
  refusal: 'content_filter',
  safety: 'content_filter',
  recitation: 'content_filter',
  prohibited_content: 'content_filter',
  blocklist: 'content_filter',
  spii: 'content_filter',
  sensitive: 'content_filter',
  tool_calls: 'tool_calls',
  function_call: 'tool_calls',
}

/** A word that says nothing of the reply names an ordinary end. What stands behind a colon explains the word. */
export function endingOf(reason: string): ReplyFinish {
  const [word = ''] = reason.toLowerCase().split(':', 1)
  return Object.hasOwn(endings, word) ? (endings[word] ?? 'stop') : 'stop'
}

/** Words of servers that gave a reply up in the middle: OpenRouter, DeepSeek, Z.ai. */
const breaks: readonly unknown[] = ['error', 'insufficient_system_resource', 'network_error']

/** Whether the word says that the reply is not whole, although another try may be. */
export function isBreak(reason: unknown): boolean {
  return breaks.includes(reason)
}
