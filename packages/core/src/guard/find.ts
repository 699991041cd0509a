/** Looks for the pattern of a guardrail in a text: at once in short ones, on a thread in others. */
import { countWork, isWorkSpent, nextTurn } from '../identity/turn.ts'
import { type Pattern, patternOf } from '../model/pattern.ts'
import { type GuardQuestion, guardText, type LookElsewhere } from './work.ts'

/** How much is done at once: the characters that are looked at times the weight of the pattern, which is at least the size of its program. It takes some milliseconds at most. */
const shortWork = 200_000
/** How often that much may be looked at again, behind each match. */
const mostAgain = 10
const unitsOfWork = 1 / 20

/** Whether a text has what a pattern looks for, or the text without that. Throws for a pattern that cannot be used. */
export function lookInto(
  question: GuardQuestion,
  elsewhere: LookElsewhere,
): boolean | string | Promise<boolean | string> {
  if (isWorkSpent()) return nextTurn().then(() => lookInto(question, elsewhere))
  return lookAtOnce(question) ?? elsewhere(question)
}

/** The same now, however much was done in this turn; null for a text that is long for that pattern. Throws as that does. */
export function lookAtOnce(question: GuardQuestion): boolean | string | null {
  const { weight, expression } = readOnce(question.pattern)
  let left = mostAgain * shortWork
  const cost = (question.text.length + 1) * weight
  if (cost > shortWork) return null
  countWork(cost * unitsOfWork)
  return guardText(expression, question, (characters) => {
    left -= characters * weight
    countWork(characters * weight * unitsOfWork)
    return left > 0
  })
}

function readOnce(pattern: string): Pattern {
  const read = patternOf(pattern)
  if (typeof read === 'string') throw new TypeError(read)
  return read
}
