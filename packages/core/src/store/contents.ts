/** What the drivers share about content: how long it may wait for its first reference, and how it is checked when it arrives. */
import { createHash } from 'node:crypto'

/** Content that no conversation refers to is removed when it is this old, at the next time that content is stored. */
export const unusedContentMs = 3_600_000

/** The digest of content: `sha256:` and 64 hexadecimal digits. */
export function digestOf(bytes: Uint8Array): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`
}
