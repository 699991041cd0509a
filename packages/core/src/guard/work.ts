/** What guardrails do with a text: look for a pattern, and take out what fits it. The thread of patterns does the same. */
import { RE2JS } from 're2js'

/** What stands in place of what was taken out. */
const redactedText = '[removed]'

/** What is done with a text. */
type GuardWork = 'find' | 'redact'

/** A pattern to look for in a text. */
export interface GuardQuestion {
  readonly pattern: string
  readonly work: GuardWork
  readonly text: string
}

/** Looks for a pattern where that holds nothing up: on a thread. */
export type LookElsewhere = (question: GuardQuestion) => Promise<boolean | string>

/** The text without what fits, or whether anything does. Takes time that is linear in the text. */
export function guardText(expression: RE2JS, work: GuardWork, text: string): boolean | string {
  if (!expression.test(text)) return work === 'find' ? false : text
  return work === 'find' ? true : redacted(expression, text)
}

function redacted(expression: RE2JS, text: string): string {
  const matcher = expression.matcher(text)
  let clean = ''
  let from = 0
  while (matcher.find()) {
    const [begin, end] = [matcher.start(), matcher.end()]
    // What is empty hides nothing.
    if (end === begin) continue
    clean += text.slice(from, begin) + redactedText
    from = end
  }
  return clean + text.slice(from)
}

/** The expression of a pattern that was checked. */
export function expressionOf(pattern: string): RE2JS {
  return RE2JS.compile(RE2JS.translateRegExp(pattern))
}
