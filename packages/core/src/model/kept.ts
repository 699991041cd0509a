/** What a model wants back with its reply, held to what a log can bear. */
import type { KeptParts } from '@witan/protocol/entries'
import { isTooDeep } from '@witan/protocol/schemas'

/** The longest that they may be, in characters of JSON: a thought that is longer than most books. */
export const longestKept = 2_000_000

/** The same as the log will have it: plain JSON. Null where it is none, nests too deeply or is too long. */
export function storable(kept: KeptParts): KeptParts | null {
  try {
    if (isTooDeep(kept.parts)) return null
    const written = JSON.stringify(kept)
    return written.length > longestKept ? null : (JSON.parse(written) as KeptParts)
  } catch {
    return null
  }
}
