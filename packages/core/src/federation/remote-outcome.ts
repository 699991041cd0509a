/** How the call of an agent on another server fails, in words that its caller's model reads. */
import { cutTo } from '../parameter/scrub.ts'
import { failed, type ResultOutcome } from '../tool/outcome.ts'

/** Its task failed, or it does what is not taken. */
export function remoteFailed(remote: string, words: string): ResultOutcome {
  return failed('REMOTE_FAILED', `${remote} failed: ${cutTo(words, 1000) || 'it does not say why'}`)
}

/** Nothing gets there, or nothing comes back. */
export function unreachable(remote: string, words: string): ResultOutcome {
  return failed('REMOTE_UNREACHABLE', `${remote} could not be reached: ${cutTo(words, 1000)}`)
}

/** A message may have got there, and must not get there twice. */
export function outcomeUnknown(remote: string): ResultOutcome {
  const detail = `${remote} was called when the connection or a process broke; whether it has got the message is unknown. It was not sent again.`
  return failed('OUTCOME_UNKNOWN', detail)
}
