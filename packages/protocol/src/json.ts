/** Reads untrusted JSON, and reports what is wrong with it. */
import { parseExact } from './digits.ts'
import { jsonExcess, maxJsonDepth } from './json-size.ts'

/** A value, or a short reason why there is none. `isExcess`: it may be JSON, but is too deep or too large. */
export type ReadJson =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly problem: string; readonly isExcess: boolean }

/** As {@link parseExact}, of JSON within the limits of {@link jsonExcess}. Never throws, and never quotes the text. */
export function readJson(text: string): ReadJson {
  const excess = jsonExcess(text)
  if (excess !== null) return { ok: false, problem: excess.problem, isExcess: true }
  try {
    return { ok: true, value: parseExact(text) }
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
