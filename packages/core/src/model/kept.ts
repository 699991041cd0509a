/** What a model wants back with its reply, held to what a log can bear. */
import type { KeptParts } from '@witan/protocol/entries'
import { jsonExcess, maxJsonDepth, maxJsonSize } from '@witan/protocol/schemas'
import { runWithoutPause } from '../identity/pausable.ts'
import { plainCopy } from '../identity/plain.ts'

/** The longest that they may be, in characters of JSON: a thought that is longer than most books. */
export const longestKept = 2_000_000

const limits = { characters: longestKept, values: maxJsonSize.values }

/**
 * The same as the log will have it: plain JSON. Null where it is none, nests too deeply, is too long or has too many values, and where
 * the adapter has put null because there was too much to read.
 */
export function storable(kept: KeptParts): KeptParts | null {
  if (kept.parts === null) return null
  try {
    const { value, isWhole, depth } = runWithoutPause(plainCopy(kept, limits))
    if (!isWhole || depth > maxJsonDepth + 1) return null
    const written = JSON.stringify(value)
    return written.length > longestKept || jsonExcess(written) !== null ? null : (value as KeptParts)
  } catch {
    return null
  }
}
