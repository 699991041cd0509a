/** What a model wants back with its reply, held to what a log can bear. */
import type { KeptParts } from '@witan/protocol/entries'
import { isTooDeep, jsonExcess } from '@witan/protocol/schemas'
import { jsonLength } from '../identity/json-length.ts'

/** The longest that they may be, in characters of JSON: a thought that is longer than most books. */
export const longestKept = 2_000_000

/**
 * The same as the log will have it: plain JSON. Null where it is none, nests too deeply, is too long or has too many values, and where
 * the adapter has put null because there was too much to read.
 */
export function storable(kept: KeptParts): KeptParts | null {
  try {
    if (kept.parts === null || jsonLength(kept.parts, longestKept) > longestKept || isTooDeep(kept.parts)) return null
    const written = JSON.stringify(kept)
    if (written.length > longestKept || jsonExcess(written) !== null) return null
    return JSON.parse(written) as KeptParts
  } catch {
    return null
  }
}
