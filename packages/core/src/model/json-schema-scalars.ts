/** The keywords of JSON Schema about strings and numbers. */
import { hasFormat, isPatternOf } from './format.ts'
import type { At, Keyword, Look } from './json-schema-look.ts'

/** Keywords about strings. */
export const stringKeywords: Readonly<Record<string, Keyword>> = {
  minLength(look, { minLength }, at) {
    const text = at.value as string
    if (typeof minLength !== 'number' || !isShorter(look, text, minLength)) return true
    return look.wrong(at, `expected string to have >=${minLength} characters`)
  },
  maxLength(look, { maxLength }, at) {
    const text = at.value as string
    if (typeof maxLength !== 'number' || isShorter(look, text, maxLength + 1)) return true
    return look.wrong(at, `expected string to have <=${maxLength} characters`)
  },
  pattern(look, { pattern, format }, at) {
    if (typeof pattern !== 'string' || isPatternOf(format, pattern) || look.matches(pattern, at.value as string))
      return true
    return look.wrong(at, `must match pattern /${pattern}/`)
  },
  format(look, { format }, at) {
    const text = at.value as string
    if (typeof format !== 'string' || !look.pay(text.length >> 3) || hasFormat(format, text)) return true
    return look.wrong(at, `is no valid ${format.slice(0, 40)}`)
  },
}

/** Whether a text has fewer characters than this, as people count them. */
function isShorter(look: Look, text: string, than: number): boolean {
  if (text.length < than) return true
  if (text.length >= than * 2) return false
  look.pay(text.length >> 3)
  let count = 0
  for (const _ of text) count += 1
  return count < than
}

/** Keywords about numbers. A flag beside `minimum` is how draft 4 excludes it. */
export const numberKeywords: Readonly<Record<string, Keyword>> = {
  minimum(look, { minimum, exclusiveMinimum }, at) {
    return bound(look, at, { limit: minimum, sign: exclusiveMinimum === true ? '>' : '>=' })
  },
  maximum(look, { maximum, exclusiveMaximum }, at) {
    return bound(look, at, { limit: maximum, sign: exclusiveMaximum === true ? '<' : '<=' })
  },
  exclusiveMinimum(look, { exclusiveMinimum }, at) {
    return bound(look, at, { limit: exclusiveMinimum, sign: '>' })
  },
  exclusiveMaximum(look, { exclusiveMaximum }, at) {
    return bound(look, at, { limit: exclusiveMaximum, sign: '<' })
  },
  multipleOf(look, { multipleOf }, at) {
    if (typeof multipleOf !== 'number' || multipleOf <= 0) return true
    const ratio = (at.value as number) / multipleOf
    if (Math.abs(ratio - Math.round(ratio)) <= Math.abs(ratio) * Number.EPSILON * 4) return true
    return look.wrong(at, `expected a multiple of ${multipleOf}`)
  },
}

const holds: Readonly<Record<string, (value: number, limit: number) => boolean>> = {
  '>': (value, limit) => value > limit,
  '>=': (value, limit) => value >= limit,
  '<': (value, limit) => value < limit,
  '<=': (value, limit) => value <= limit,
}

function bound(look: Look, at: At, { limit, sign }: { readonly limit: unknown; readonly sign: string }): boolean {
  if (typeof limit !== 'number' || holds[sign]?.(at.value as number, limit)) return true
  return look.wrong(at, `expected number to be ${sign}${limit}`)
}
