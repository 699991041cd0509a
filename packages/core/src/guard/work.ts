/** What guardrails do with a text: look for a pattern, and take out what fits it. The thread of patterns does the same. */
import { RE2JS } from 're2js'

/** What stands in place of what was taken out. */
const redactedText = '[removed]'
/** The longest text that is left, in characters, of a shorter one: each match may become a longer mark. */
const longestLeft = 1_000_000

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

/**
 * The text without what fits, or whether anything does. One search takes time that is linear in the text; after each match begins another, and `mayGoOn` is
 * asked before it with how much is left. Null if it may not. Throws if the text would become too long.
 */
export function guardText(
  expression: RE2JS,
  { work, text }: Omit<GuardQuestion, 'pattern'>,
  mayGoOn: (left: number) => boolean,
): boolean | string | null {
  if (!expression.test(text)) return work === 'find' ? false : text
  return work === 'find' ? true : redacted(expression, text, mayGoOn)
}

/**
 * What was taken out before is whole: a match that reaches into a mark takes all of it, and gives one mark again. So a second look finds nothing, and
 * many patterns do not make a text longer than one does.
 */
function redacted(expression: RE2JS, text: string, mayGoOn: (left: number) => boolean): string | null {
  const matcher = expression.matcher(text)
  const parts: string[] = []
  let length = 0
  let from = 0
  let mark = text.indexOf(redactedText)
  const keep = (part: string) => {
    parts.push(part)
    length += part.length
    if (length > Math.max(longestLeft, text.length)) throw new RangeError('the text would become too long')
  }
  while (matcher.find()) {
    let [begin, end] = [matcher.start(), matcher.end()]
    // What is empty hides nothing, and what stands before `from` is taken out already.
    if (end === begin || end <= from) continue
    while (mark >= 0 && mark + redactedText.length <= begin) mark = text.indexOf(redactedText, mark + 1)
    let at = mark
    while (at >= 0 && at < end) {
      begin = Math.min(begin, at)
      end = Math.max(end, at + redactedText.length)
      at = text.indexOf(redactedText, at + 1)
    }
    begin = Math.max(begin, from)
    // Matches that touch are one.
    if (begin > from || from === 0) keep(text.slice(from, begin) + redactedText)
    from = end
    if (!mayGoOn(text.length - from)) return null
  }
  keep(text.slice(from))
  return parts.join('')
}

/** The expression of a pattern that was checked. */
export function expressionOf(pattern: string): RE2JS {
  return RE2JS.compile(RE2JS.translateRegExp(pattern))
}
