/** How words that wait in a document become messages of a model, with the calls that stand behind them. */
import type { ModelMessage } from '../model/message.ts'
import type { Scrubber } from '../parameter/scrub.ts'
import type { WaitingMessage } from './state.ts'

/**
 * Adds what was said to `into`: neighbours become one user message, so that roles alternate [T11]. Calls that a caller brought
 * stand behind the words they came with, as the model's own, each with its response [Rb52].
 */
export function hear(into: ModelMessage[], waiting: readonly WaitingMessage[], scrub: Scrubber): void {
  let said: string[] = []
  for (const { text, calls, told } of waiting) {
    // What a task came to is no person's word: its reader must not see more of it than of a delegate's answer.
    said.push(scrub === null || told === undefined ? text : scrub(text))
    if (calls === undefined) continue
    addWords(into, said)
    said = []
    const toolCalls = calls.map(({ id, name, arguments: written }) => ({ id, name, arguments: written }))
    into.push({ role: 'assistant', content: '', toolCalls })
    for (const { id, name, response } of calls) {
      const content = contentOf(response)
      into.push({ role: 'tool', toolCallId: id, name, content: scrub === null ? content : scrub(content) })
    }
  }
  if (said.length > 0) addWords(into, said)
}

/** A summary in front of a document is a user message too: words that follow it at once join it. */
function addWords(into: ModelMessage[], said: readonly string[]): void {
  const text = said.join('\n\n')
  const last = into.at(-1)
  if (last?.role === 'user') into[into.length - 1] = { role: 'user', content: `${last.content}\n\n${text}` }
  else into.push({ role: 'user', content: text })
}

/** What a model reads of a tool's value: text as it is, or else JSON. */
export function contentOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? 'null')
}

/** What a model reads of a tool's result: of an array that was cut, that there was more. */
export function resultText({ result, truncated }: { readonly result: unknown; readonly truncated: boolean }): string {
  const rest = truncated && Array.isArray(result) ? [`first ${result.length} of more rows shown`] : []
  return contentOf(rest.length === 0 ? result : [...(result as unknown[]), ...rest])
}
