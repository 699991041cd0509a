/** Reads typed text that may be JSON. */
import { parseExact } from '@witan/protocol/digits'

/** A value, or why there is none. */
type Typed = { readonly value: unknown; readonly problem: null } | { readonly value: null; readonly problem: string }

/** JSON where it is JSON, else the text as it is; what begins like an object or a list and is none is a slip. */
export function readTextOrJson(text: string): Typed {
  const trimmed = text.trim()
  const read = readJson(trimmed)
  return read.problem === null || /^[[{]/.test(trimmed) ? read : { value: trimmed, problem: null }
}

/** One JSON object. */
export function readJsonObject(text: string): Typed {
  const read = readJson(text)
  if (read.problem !== null) return read
  if (typeof read.value === 'object' && read.value !== null && !Array.isArray(read.value)) return read
  return { value: null, problem: 'This must be one JSON object, such as { "amount": 5 }.' }
}

function readJson(text: string): Typed {
  try {
    return { value: parseExact(text), problem: null }
  } catch (reason) {
    return { value: null, problem: `This is not JSON: ${reason instanceof Error ? reason.message : String(reason)}.` }
  }
}
