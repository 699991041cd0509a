/** How long one reply may be, and how many calls it may have. More would hold up every other run while it is scrubbed, stored and sent again. */
import { ModelCallError } from './model.ts'

/** In characters, of its text and of the arguments of its tool calls together: twice what a large model writes at most. */
const longestReply = 1_000_000

/** How many calls of tools one reply may have; far fewer of them run. */
export const mostCalls = 10_000

/** How much of a reply there is so far. */
interface ReplySize {
  /** Its text and the arguments of its calls, in characters. */
  readonly length: number
  /** The ids and names of its calls, in characters. */
  readonly labels: number
  readonly calls: number
}

/** The error of a reply that is too long or asks for too much; null for any other. `by` names who wrote it. */
export function replyExcess({ length, labels, calls }: ReplySize, by: string): ModelCallError | null {
  if (length > longestReply)
    return excess(
      `${by} wrote more than ${longestReply} characters in one reply. Set \`maxOutputTokens\` to have it stop earlier.`,
    )
  if (labels > longestReply)
    return excess(`${by} wrote more than ${longestReply} characters in the ids and names of the calls of one reply.`)
  return calls > mostCalls ? excess(`${by} asked for more than ${mostCalls} calls of tools in one reply.`) : null
}

function excess(message: string): ModelCallError {
  return new ModelCallError(message, { retryable: false })
}
