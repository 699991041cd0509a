/** The result of a condition: it was met, or the model reads in neutral words that the call did not happen [C21]. */
import { unanswered, type ResultOutcome } from './outcome.ts'
import type { Answer } from './tool.ts'

/** The resolution that somebody sent, or the outcome if nobody did. The policy's own text never reaches the model; `called` names it there. */
export function policyAnswer(
  answer: Answer,
  called = 'The remote agent’s condition',
): { readonly resolution: Readonly<Record<string, unknown>> } | ResultOutcome {
  if ('error' in answer) return unanswered({ ...answer, error: `${called} was not met in time.` })
  const { resolution } = answer.value as { readonly resolution?: Readonly<Record<string, unknown>> }
  return resolution === undefined ? unanswered({ error: `${called} was declined.` }) : { resolution }
}
