/** Looks for the pattern of a guardrail in a text: at once in short ones, on a thread in others. */
import type { RE2JS } from 're2js'
import { countWork, isWorkSpent, nextTurn } from '../identity/turn.ts'
import { patternOf } from '../model/pattern.ts'
import { expressionOf, type GuardQuestion, guardText, type LookElsewhere } from './work.ts'

/** A pattern, ready to look for. */
export interface Finder {
  readonly pattern: string
  /** The size of its program: what a character costs at most. */
  readonly weight: number
  expression: RE2JS | null
}

/** How much is done at once: characters times the size of the program. It takes a millisecond at most. */
const shortWork = 200_000
const unitsOfWork = 1 / 20

/** Makes a pattern ready. Throws for one that cannot be used. */
export function finderOf(pattern: string): Finder {
  const read = patternOf(pattern)
  if (typeof read === 'string') throw new TypeError(read)
  return { pattern, weight: read.weight, expression: null }
}

/** Whether a text has what a pattern looks for, or the text without that. */
export function lookInto(
  finder: Finder,
  question: Omit<GuardQuestion, 'pattern'>,
  elsewhere: LookElsewhere,
): boolean | string | Promise<boolean | string> {
  const { pattern, weight } = finder
  const { work, text } = question
  const cost = (text.length + 1) * weight
  if (cost > shortWork) return elsewhere({ pattern, work, text })
  if (isWorkSpent()) return nextTurn().then(() => lookInto(finder, question, elsewhere))
  countWork(cost * unitsOfWork)
  finder.expression ??= expressionOf(pattern)
  return guardText(finder.expression, work, text)
}
