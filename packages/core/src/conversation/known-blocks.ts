/** What an agent knows in a document of its memory. */
import type { RememberedBlock } from '@witan/protocol/entries'

/** The core blocks that a line has. */
export interface SaidBlocks {
  /** Which they are, in which revisions. */
  readonly said: string
  readonly blocks: ReadonlyMap<string, RememberedBlock>
  /** Whether they name their scope. */
  readonly isScoped: boolean
}

/** What an agent knows of its core blocks: those of the last line that its model has read, and what it has written since. */
export interface Remembered extends SaidBlocks {
  /** Where in the document that line stands, or behind it. */
  readonly from: number
}
