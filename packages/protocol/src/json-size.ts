/** Measures JSON before it is parsed: many small values hold a process for far longer than one long text. */
import { endOfString } from './digits.ts'

/** The maximum depth of a JSON value. A deeper value can exhaust the stack of code that reads or writes it later. */
export const maxJsonDepth = 64

/** What a JSON text is made of. */
export interface JsonSize {
  /** How deep its lists and objects nest. */
  readonly depth: number
  /** Lists, objects, texts, numbers and the three words, at any depth. */
  readonly values: number
  /** The different keys of its objects, as they are written. */
  readonly keys: number
  /** The characters outside its texts: keys, numbers, brackets, white space. */
  readonly beside: number
  /** The characters of short texts, and of long ones with escapes. Of the others, such as files, a parser only looks for the end. */
  readonly written: number
}

/** The most of each that JSON from outside may have. Up to there it is scanned and parsed in less than 50 ms of CPU. */
export const maxJsonSize = { values: 100_000, keys: 10_000, beside: 1_500_000, written: 6_500_000 } as const

const words: Readonly<Record<keyof typeof maxJsonSize, string>> = {
  values: 'values',
  keys: 'different keys',
  beside: 'characters outside its texts',
  written: 'characters of short or escaped texts',
}

/** Shorter texts count as {@link JsonSize.written}. */
const longText = 1024

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

/** One pass over the text, which stops where something is more than `most`. Of a text that is not JSON, any numbers. */
export function jsonSize(text: string, most: Omit<JsonSize, 'depth'> = maxJsonSize): JsonSize {
  const keys = new Set<string>()
  let [depth, deepest, values, beside, written] = [0, 0, 1, 0, 0]
  /** The last text: a colon makes it a key. */
  let [start, end, counted] = [0, 0, 0]
  let hasOpened = false
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === 0x22) {
      start = at
      end = endOfString(text, at)
      at = end
      counted = end - start > longText && !text.slice(start, end).includes('\\') ? 0 : end + 1 - start
      written += counted
      hasOpened = false
      if (written > most.written) break
      continue
    }
    if (++beside > most.beside) break
    if (code === 0x5b || code === 0x7b) {
      // The first value in it; taken back where it is empty. Each comma stands for one more.
      values++
      if (++depth > deepest) deepest = depth
      hasOpened = true
      if (values > most.values) break
    } else if (code > 0x20) {
      if (code === 0x2c) {
        if (++values > most.values) break
      } else if (code === 0x5d || code === 0x7d) {
        depth--
        if (hasOpened) values--
      } else if (code === 0x3a) {
        written -= counted
        beside += end + 1 - start
        counted = 0
        if (keys.add(text.slice(start + 1, end)).size > most.keys) break
      }
      hasOpened = false
    }
  }
  return { depth: deepest, values, keys: keys.size, beside, written }
}

/** Why JSON from outside is not parsed, in words without a full stop. */
interface JsonExcess {
  readonly problem: string
  readonly isDepth: boolean
}

/** A shorter JSON text can only nest too deep: each value takes two characters, each different key six, as in `"a":0,`. */
const longJson = 6 * maxJsonSize.keys

/** What of a JSON text is too much to parse it; null if nothing is. Never quotes the text. */
export function jsonExcess(text: string): JsonExcess | null {
  // A shorter text that nests deeper cannot close its brackets: it is not JSON.
  if (text.length <= 2 * maxJsonDepth) return null
  const size: Partial<JsonSize> = text.length > longJson ? jsonSize(text) : { depth: jsonDepth(text) }
  const { depth = 0 } = size
  if (depth > maxJsonDepth)
    return { problem: `it is nested ${depth} deep; the limit is ${maxJsonDepth}`, isDepth: true }
  for (const part of ['values', 'keys', 'beside', 'written'] as const)
    if ((size[part] ?? 0) > maxJsonSize[part])
      return { problem: `it has more than ${maxJsonSize[part]} ${words[part]}`, isDepth: false }
  return null
}
