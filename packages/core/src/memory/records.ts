/** Blocks of memory: the part of a store that agents' memory uses. */
import type { MemoryKind, MemoryScope, MemoryWriter } from '@witan/protocol/memory'
import type { RowPage } from '../identity/row-page.ts'

/** Whose blocks these are: no two blocks of an owner have one key. */
export interface BlockOwner {
  readonly agent: string
  readonly scope: MemoryScope
  /** Null in the scope `agent`, and nowhere else. */
  readonly subject: string | null
  /** Set in the scope `conversation`, and nowhere else. */
  readonly conversation: string | null
}

/** A block as stored. */
export interface BlockRow extends BlockOwner {
  readonly id: string
  readonly kind: MemoryKind
  readonly key: string
  readonly text: string
  readonly revision: number
  readonly createdAt: number
  readonly updatedAt: number
  readonly writtenBy: MemoryWriter
}

/** How many revisions of a block are kept, the latest ones, so that no writer fills a store. */
export const keptRevisions = 1_000

/** One text of a block that still exists. */
export interface BlockRevision {
  readonly revision: number
  readonly text: string
  readonly at: number
  readonly writtenBy: MemoryWriter
}

/** How much an owner may have. */
export interface BlockLimits {
  readonly coreCharacters: number
  readonly coreBlocks: number
  readonly archivalCharacters: number
}

/** A write of one block. */
export interface BlockWrite {
  readonly owner: BlockOwner
  readonly key: string
  /** Null: as it is, and `core` for a new one. */
  readonly kind: MemoryKind | null
  /** Empty: the block is deleted, with its revisions. */
  readonly text: string
  /** The revision that it has; null: there is none of that key. */
  readonly expected: number | null
  /** The id of a new block. */
  readonly id: string
  readonly at: number
  readonly by: MemoryWriter
  /**
   * The call that writes, one of its kind in the database: it writes a block at most once. A repeat gives the first result, as long as the key
   * counts; `block` is null if it was deleted since. Null: nobody repeats it.
   */
  readonly call: string | null
  readonly limits: BlockLimits
}

/** How much an owner has of one kind, if a write would be too much. Characters, or blocks. */
export interface FullMemory {
  readonly what: 'characters' | 'blocks'
  readonly kind: MemoryKind
  readonly used: number
  readonly allowed: number
  /** The longest blocks of that kind, longest first, at most five. */
  readonly largest: readonly { readonly key: string; readonly characters: number }[]
}

/** What became of a write. `block` is as it was written, or as it is in a conflict; null if it is deleted. */
export type BlockResult =
  | { readonly ok: true; readonly revision: number; readonly block: BlockRow | null }
  | { readonly ok: false; readonly reason: 'conflict'; readonly block: BlockRow | null }
  | { readonly ok: false; readonly reason: 'full'; readonly full: FullMemory }
  /** The conversation that the block is of, or that writes it, is deleted. */
  | { readonly ok: false; readonly reason: 'gone' }

/** Which blocks a list has. */
export interface BlockFilter {
  readonly agent: string | null
  readonly subject: string | null
  readonly scope: MemoryScope | null
  readonly kind: MemoryKind | null
  /** Only those of a conversation. The cost of a page does not grow with others. */
  readonly conversation?: string | null
}

/** A person of whom an agent's model read or wrote something in a conversation. */
export interface BlockUse {
  readonly agent: string
  readonly subject: string
  readonly conversation: string
}

/** What a store does with blocks. Those of a conversation, and all uses in it, are deleted with it. */
export interface BlockRecords {
  /** The blocks of these owners, in their order, then by key. */
  readBlocks(database: string, owners: readonly BlockOwner[]): Promise<readonly BlockRow[]>
  /**
   * Writes or deletes one block if it has the expected revision: of writers at once, one succeeds. The limits of its owner hold at every commit:
   * what makes its kind no larger is never too much. A key that is used again goes on counting its revisions, for a week at least, and a new key of an
   * owner whose blocks were erased counts on behind all of those: no revision is given twice. With a writer's
   * conversation it also notes the use there, whatever the result: a conflict has the present text.
   */
  writeBlock(database: string, write: BlockWrite): Promise<BlockResult>
  /** Notes that blocks are read in a conversation, before their texts are read. Nothing is noted of one that is deleted. */
  noteBlockUse(database: string, use: BlockUse): Promise<void>
  /** Blocks, the latest made first; `after` is an id. The cost of a page with a subject does not grow with the blocks of others. */
  listBlocks(database: string, page: RowPage & BlockFilter): Promise<readonly BlockRow[]>
  getBlock(database: string, id: string): Promise<BlockRow | null>
  /** The texts of a block, the latest first, at most `keptRevisions`; `after` is a revision as text. Empty if there is none of that id. */
  listBlockRevisions(database: string, id: string, page: RowPage): Promise<readonly BlockRevision[]>
  /** Deletes a block with its revisions. False if there was none. */
  deleteBlock(database: string, id: string): Promise<boolean>
  /**
   * Deletes all blocks about somebody, of one agent or of all, with their revisions and what is known of earlier ones: keys, texts and writers. For
   * a week the last revision of each owner is kept, one number. Returns how many there were.
   */
  eraseBlocks(database: string, about: { readonly subject: string; readonly agent: string | null }): Promise<number>
  /** The conversations in which blocks about somebody were read or written, by id; `after` is one. Also after those are erased. */
  listBlockUses(
    database: string,
    page: RowPage & { readonly subject: string; readonly agent: string | null },
  ): Promise<readonly string[]>
  /**
   * Copies the blocks of a conversation with their revisions, and its uses, to another one. Ids of the copies: `idOf`, in the order of agents,
   * subjects, keys. Nothing is copied to a conversation that is deleted, or has blocks.
   */
  copyBlocks(database: string, from: string, to: string, idOf: () => string): Promise<void>
  /**
   * Adds a block with its revisions, the oldest first, as an import has it: no limit holds. False if its owner has its key, its id is taken, or
   * its conversation is deleted.
   */
  putBlock(database: string, block: BlockRow, revisions: readonly BlockRevision[]): Promise<boolean>
}
