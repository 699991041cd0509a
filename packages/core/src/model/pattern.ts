/** Regular expressions that others wrote, matched in time that is linear in the text. */
import { RE2JS } from 're2js'
import { countWork } from '../identity/turn.ts'

/** One expression. */
export interface Pattern {
  /** What compiling it costs: one unit is some µs. */
  readonly weight: number
  /** What a search of this text costs at most, in the unit of a schema's check. */
  cost(text: string): number
  test(text: string): boolean
  /** As it was compiled. */
  readonly expression: RE2JS
}

/** What the patterns of one request may cost together: compiling one takes up to some 20 µs for each of its characters. */
export interface PatternAllowance {
  /** Counts a pattern, once however often it occurs; in words why it is one too many, or null. */
  count(pattern: string): string | null
}

const mostInRequest = 100_000

/** The allowance of one request. */
export function patternAllowance(): PatternAllowance {
  const counted = new Set<string>()
  let left = mostInRequest
  return {
    count(pattern) {
      if (!counted.has(pattern)) left -= pattern.length
      counted.add(pattern)
      return left < 0 ? `the patterns of one request have more than ${mostInRequest} characters` : null
    },
  }
}

const longestPattern = 1000
/** A class such as `\p{L}` has hundreds of ranges. */
const classWeight = 8
const largestProgram = 5000

/** A program of this size has so few states that all are soon known, and a character is then one look into a table. */
const smallProgram = 16

/** Expressions that were compiled, by their text. The oldest go first. */
const compiled = new Map<string, Pattern | string>()
const mostCompiled = 500

/** The expression, or in words why it cannot be used: a look-around and a reference to a group have no linear search. */
export function patternOf(source: string): Pattern | string {
  if (source.length > longestPattern) return `a pattern may have ${longestPattern} characters, not ${source.length}`
  const known = compiled.get(source)
  if (known !== undefined) return known
  const [oldest] = compiled.size < mostCompiled ? [] : compiled.keys()
  if (oldest !== undefined) compiled.delete(oldest)
  const made = compile(source)
  if (typeof made !== 'string') countWork(made.weight * 50)
  compiled.set(source, made)
  return made
}

function compile(source: string): Pattern | string {
  try {
    const expression = RE2JS.compile(RE2JS.translateRegExp(source))
    const size = expression.programSize()
    if (size > largestProgram) return `the pattern \`${clip(source)}\` repeats too much`
    const perCharacter = size <= smallProgram ? size / 8 : size
    const weight = source.length + size + classWeight * (source.match(/\\[pP]/g)?.length ?? 0)
    const cost = (text: string) => Math.ceil(text.length * perCharacter)
    return { weight, cost, test: (text) => expression.test(text), expression }
  } catch (error) {
    const why = error instanceof Error ? error.message.replace(/^error parsing regexp: /, '') : 'unknown trouble'
    return `the pattern \`${clip(source)}\` is not supported: ${clip(why)}`
  }
}

function clip(text: string): string {
  return text.length > 100 ? `${text.slice(0, 100)}…` : text
}
