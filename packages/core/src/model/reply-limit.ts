/** How long one reply may be, and how many calls it may have. More would hold up every other run while it is scrubbed, stored and sent again. */
import { ModelCallError } from './model.ts'

/** In characters, of its text and of the arguments of its tool calls together: twice what a large model writes at most. */
export const longestReply = 1_000_000

/** How many calls of tools one reply may have; far fewer of them run. */
export const mostCalls = 10_000

/** The error of a reply that has more. `by` names who wrote it. */
export function errorOfCalls(by: string): ModelCallError {
  return new ModelCallError(`${by} asked for more than ${mostCalls} calls of tools in one reply.`, { retryable: false })
}

/** The error of a reply whose calls have ids and names that are longer together than {@link longestReply}. */
export function errorOfLabels(by: string): ModelCallError {
  const what = 'in the ids and names of the calls of one reply'
  return new ModelCallError(`${by} wrote more than ${longestReply} characters ${what}.`, { retryable: false })
}

/** The error of a reply that is longer. `by` names who wrote it. */
export function errorOfLength(by: string): ModelCallError {
  const advice = 'Set `maxOutputTokens` to have it stop earlier.'
  return new ModelCallError(`${by} wrote more than ${longestReply} characters in one reply. ${advice}`, {
    retryable: false,
  })
}
