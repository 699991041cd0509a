/** How long one reply may be. A longer one would hold up every other run while it is scrubbed, stored and sent again. */
import { ModelCallError } from './model.ts'

/** In characters, of its text and of the arguments of its tool calls together: twice what a large model writes at most. */
export const longestReply = 1_000_000

/** The error of a reply that is longer. `by` names who wrote it. */
export function errorOfLength(by: string): ModelCallError {
  const advice = 'Set `maxOutputTokens` to have it stop earlier.'
  return new ModelCallError(`${by} wrote more than ${longestReply} characters in one reply. ${advice}`, {
    retryable: false,
  })
}
