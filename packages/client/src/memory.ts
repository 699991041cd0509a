/** What agents remember, over HTTP: list, read, write, change and erase. */
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
import { eachItem, type Page, type PageQuery } from './page.ts'
import { segment, type Transport } from './transport.ts'

/** Which blocks a list has. `subject`: whom they are about, such as `user:anna`; by default the caller. `q`: all of these words stand in key or text. */
type MemoryQuery = PageQuery & {
  readonly agent?: string
  readonly subject?: string
  readonly scope?: MemoryScope
  readonly kind?: MemoryKind
  readonly q?: string
}

/** Blocks about somebody, such as `user:anna`: of one agent, or of all. */
interface MemorySubject {
  readonly subject: string
  readonly agent?: string
}

/** What agents remember. A person reads, changes and erases without a role what is about them; the role `admin` reaches all. */
export interface Memory {
  /** One page, the latest made first. */
  list(query?: MemoryQuery): Promise<Page<MemoryBlock>>
  /** Every block, page after page. */
  all(query?: MemoryQuery): AsyncGenerator<MemoryBlock, void, undefined>
  get(id: string): Promise<MemoryBlock>
  /** Adds a block. `MEMORY_CONFLICT` if its key exists, `MEMORY_FULL` if there is no room. Never sent twice. */
  create(block: NewMemory): Promise<MemoryBlock>
  /** Another text for a block. `MEMORY_CONFLICT` if it has another revision: the error's `details.current` is the block as it is. */
  change(id: string, change: ChangedMemory): Promise<MemoryBlock>
  /** Erases one block with its revisions. */
  delete(id: string): Promise<void>
  /** One page of its texts, the latest first. */
  revisions(id: string, query?: PageQuery): Promise<Page<MemoryRevision>>
  /** One page of the conversations whose logs hold what a model read or wrote of these blocks; also of blocks that are erased. */
  conversations(about: MemorySubject, query?: PageQuery): Promise<Page<MemoryConversation>>
  /**
   * Erases all blocks about somebody. The answer names the conversations whose logs hold what a model read or wrote of them; with
   * `conversations` those are deleted too, as far as the caller may.
   */
  erase(about: MemorySubject & { readonly conversations?: boolean }): Promise<ErasedMemory>
}

/** The memory calls over one transport. */
export function memoryCalls(transport: Transport): Memory {
  const path = '/api/v1/memory'
  const at = (id: string) => `${path}/${segment(id)}`
  const list = (query: MemoryQuery = {}): Promise<Page<MemoryBlock>> =>
    transport.json('GET', path, { query: { ...query } })
  return {
    list,
    all: (query = {}) => eachItem((page) => list({ ...query, ...page }), query),
    get: (id) => transport.json('GET', at(id)),
    create: (block) => transport.json('POST', path, { body: block }),
    change: (id, change) => transport.json('PUT', at(id), { body: change }),
    delete: (id) => transport.json('DELETE', at(id)),
    revisions: (id, query = {}) => transport.json('GET', `${at(id)}/revisions`, { query: { ...query } }),
    conversations: (about, query = {}) =>
      transport.json('GET', `${path}/conversations`, { query: { ...about, ...query } }),
    erase: ({ conversations = false, ...about }) =>
      transport.json('DELETE', path, { query: conversations ? { ...about, conversations } : about }),
  }
}
