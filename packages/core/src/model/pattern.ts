/** Regular expressions that others wrote, matched in time that is linear in the text. */
import { RE2JS } from 're2js'

/** One expression. */
export interface Pattern {
  /** What a search of this text costs at most, in the unit of a schema's check. */
  cost(text: string): number
  test(text: string): boolean
}

const longestPattern = 1000
const largestProgram = 5000

/** A program of this size has so few states that all are soon known, and a character is then one look into a table. */
const smallProgram = 16

/** The expression, or in words why it cannot be used: a look-around and a reference to a group have no linear search. */
export function patternOf(source: string): Pattern | string {
  if (source.length > longestPattern) return `a pattern may have ${longestPattern} characters, not ${source.length}`
  try {
    const compiled = RE2JS.compile(RE2JS.translateRegExp(source))
    const size = compiled.programSize()
    if (size > largestProgram) return `the pattern \`${clip(source)}\` repeats too much`
    const perCharacter = size <= smallProgram ? size / 8 : size
    return { cost: (text) => Math.ceil(text.length * perCharacter), test: (text) => compiled.test(text) }
  } catch (error) {
    const why = error instanceof Error ? error.message.replace(/^error parsing regexp: /, '') : 'unknown trouble'
    return `the pattern \`${clip(source)}\` is not supported: ${clip(why)}`
  }
}

function clip(text: string): string {
  return text.length > 100 ? `${text.slice(0, 100)}…` : text
}
