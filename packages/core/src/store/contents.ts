/** What the drivers share about content: how long it may wait for its first reference, and how it is checked when it arrives. */
import { createHash } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'

/** Content that no conversation refers to is removed when it is this old, at the next time that content is stored. */
export const unusedContentMs = 3_600_000

/** The digest of content: `sha256:` and 64 hexadecimal digits. */
export function digestOf(bytes: Uint8Array): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`
}

const partBytes = 1_048_576

/** The same for content of any size, without holding the process for long. */
export async function digestInParts(bytes: Uint8Array): Promise<string> {
  const hash = createHash('sha256')
  for (let from = 0; from < bytes.byteLength; from += partBytes) {
    if (from > 0) await nextTurn()
    hash.update(bytes.subarray(from, from + partBytes))
  }
  return `sha256:${hash.digest('hex')}`
}
