/** Reads untrusted JSON, and reports what is wrong with it. */
import { parseExact, withTexts } from './digits.ts'
import { jsonExcess, maxJsonDepth } from './json-size.ts'

/** A value, or a short reason why there is none. `isExcess`: it may be JSON, but is too deep or too large. */
export type ReadJson =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly problem: string; readonly isExcess: boolean }

/** As {@link parseExact}, of JSON within the limits of {@link jsonExcess}. Never throws, and never quotes the text. */
export function readJson(text: string): ReadJson {
  const excess = jsonExcess(text)
  return excess === null ? parsed(text, withTexts(text)) : { ok: false, problem: excess.problem, isExcess: true }
}

/** The same in three pieces of work: a long text is looked through twice, and then parsed. */
export function* readingJson(text: string): Generator<undefined, ReadJson> {
  const excess = jsonExcess(text)
  if (excess !== null) return { ok: false, problem: excess.problem, isExcess: true }
  yield
  const exact = withTexts(text)
  yield
  return parsed(text, exact)
}

/** `exact` is the text with its long numbers in quotes. */
function parsed(text: string, exact: string): ReadJson {
  try {
    return { ok: true, value: exact === text ? JSON.parse(text) : parseExact(text) }
  } catch {
    return { ok: false, problem: 'it is not JSON', isExcess: false }
  }
}

/** Whether a value nests deeper than {@link maxJsonDepth}; true for one that contains itself. Stops as soon as it knows. */
export function isTooDeep(value: unknown): boolean {
  return isDeeperThan(maxJsonDepth, value)
}

function isDeeperThan(depth: number, value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (depth === 0) return true
  for (const inner of Object.values(value)) if (typeof inner === 'object' && isDeeperThan(depth - 1, inner)) return true
  return false
}
