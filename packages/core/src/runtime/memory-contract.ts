/** What agents remember, as the library offers it. */
import type {
  ChangedMemory,
  ErasedMemory,
  MemoryBlock,
  MemoryKind,
  MemoryRevision,
  MemoryScope,
  MemoryConversation,
  NewMemory,
} from '@witan/protocol/memory'
import type { Page, PageOptions } from './page.ts'

/** Which blocks a list has. `subject`: whom they are about, such as `user:anna`. `q`: all of these words stand in key or text. */
export interface MemoryQuery extends PageOptions {
  readonly agent?: string | null
  readonly subject?: string | null
  readonly scope?: MemoryScope | null
  readonly kind?: MemoryKind | null
  readonly q?: string
}

/** Blocks about somebody, of one agent or of all. */
interface MemorySubject {
  readonly subject: string
  readonly agent?: string | null
}

/**
 * What agents remember. Without a role a principal reaches what is about itself, and may change and erase it; `admin` reaches all. What it does
 * not reach throws `NOT_FOUND`.
 */
export interface MemoryAdmin {
  /** The latest made first. */
  list(query?: MemoryQuery): Promise<Page<MemoryBlock>>
  get(id: string): Promise<MemoryBlock>
  /** Throws `MEMORY_CONFLICT` if its key exists, and `MEMORY_FULL`. */
  create(request: NewMemory): Promise<MemoryBlock>
  /** Another text. Throws `MEMORY_CONFLICT` with the present block as `current` in `details` if it has another revision, and `MEMORY_FULL`. */
  change(id: string, request: ChangedMemory): Promise<MemoryBlock>
  /** Erases a block with its revisions. */
  delete(id: string): Promise<void>
  /** Its texts, the latest first, and who wrote each. */
  revisions(id: string, options?: PageOptions): Promise<Page<MemoryRevision>>
  /** The conversations whose logs hold what a model read or wrote of these blocks, by id; also of blocks that are erased. */
  conversations(about: PageOptions & MemorySubject): Promise<Page<MemoryConversation>>
  /**
   * Erases all blocks about somebody, of one agent or of all, with their revisions. Returns the conversations whose logs hold what a model read or
   * wrote of them, at most 10,000; with `conversations` those are deleted too, as far as the principal may.
   */
  erase(about: MemorySubject & { readonly conversations?: boolean }): Promise<ErasedMemory>
}
