/** Reads untrusted JSON: measures its depth and reports what is wrong with it. */

/** The maximum depth of a JSON value. A deeper value can exhaust the stack of code that reads or writes it later. */
export const maxJsonDepth = 64

/** The nesting depth of the brackets outside strings. One pass over the text, before parsing. */
export function jsonDepth(text: string): number {
  let depth = 0
  let deepest = 0
  let inString = false
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (inString) {
      if (code === 0x5c) index++
      else if (code === 0x22) inString = false
    } else if (code === 0x22) inString = true
    else if (code === 0x5b || code === 0x7b) {
      depth++
      if (depth > deepest) deepest = depth
    } else if (code === 0x5d || code === 0x7d) depth--
  }
  return deepest
}

/** A value, or a short reason why there is none. */
export type ReadJson =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly problem: string; readonly isTooDeep: boolean }

/** Parses JSON that nests at most {@link maxJsonDepth} deep. Never throws, and never quotes the text. */
export function readJson(text: string): ReadJson {
  // A shorter text that nests deeper cannot close its brackets: it is not JSON.
  const depth = text.length > 2 * maxJsonDepth ? jsonDepth(text) : 0
  if (depth > maxJsonDepth)
    return { ok: false, problem: `it is nested ${depth} deep; the limit is ${maxJsonDepth}`, isTooDeep: true }
  try {
    return { ok: true, value: JSON.parse(text) }
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
