/** Reads untrusted JSON: measures its depth, and reports what is wrong with it. */
import { endOfString, parseExact } from './digits.ts'

/** The maximum depth of a JSON value. A deeper value can exhaust the stack of code that reads or writes it later. */
export const maxJsonDepth = 64

/** The nesting depth of the brackets outside strings. One pass over the text, before parsing. */
export function jsonDepth(text: string): number {
  let depth = 0
  let deepest = 0
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code === 0x22) index = endOfString(text, index)
    else if (code === 0x5b || code === 0x7b) {
      depth++
      if (depth > deepest) deepest = depth
    } else if (code === 0x5d || code === 0x7d) depth--
  }
  return deepest
}

/** Shorter strings count in full. */
const longString = 1024

/**
 * How many characters of a JSON text are not inside long strings without escapes, such as files. Only these make a text slow to
 * parse. Stops counting beyond `most`.
 */
export function jsonRest(text: string, most: number): number {
  let rest = 0
  for (let from = 0; rest <= most; ) {
    const start = text.indexOf('"', from)
    if (start < 0) return rest + text.length - from
    const end = endOfString(text, start)
    const isLong = end - start > longString && !text.slice(start, end).includes('\\')
    rest += start - from + 2 + (isLong ? 0 : end - start)
    from = end + 1
  }
  return rest
}

/** A value, or a short reason why there is none. */
export type ReadJson =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly problem: string; readonly isTooDeep: boolean }

/** As {@link parseExact}, of JSON that nests at most {@link maxJsonDepth} deep. Never throws, and never quotes the text. */
export function readJson(text: string): ReadJson {
  // A shorter text that nests deeper cannot close its brackets: it is not JSON.
  const depth = text.length > 2 * maxJsonDepth ? jsonDepth(text) : 0
  if (depth > maxJsonDepth)
    return { ok: false, problem: `it is nested ${depth} deep; the limit is ${maxJsonDepth}`, isTooDeep: true }
  try {
    return { ok: true, value: parseExact(text) }
  } catch {
    return { ok: false, problem: 'it is not JSON', isTooDeep: false }
  }
}

/** Whether a value nests deeper than {@link maxJsonDepth}; true for one that contains itself. Stops as soon as it knows. */
export function isTooDeep(value: unknown): boolean {
  const open: (readonly [value: unknown, depth: number])[] = [[value, 1]]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [current, depth] = next
    if (typeof current !== 'object' || current === null) continue
    if (depth > maxJsonDepth) return true
    for (const inner of Object.values(current)) if (typeof inner === 'object') open.push([inner, depth + 1])
  }
  return false
}
