/** Decides what a write of a block does, from what a store has: every driver asks it within one transaction. */
import { type MemoryKind, mostArchivalBlocks } from '@witan/protocol/memory'
import type { BlockResult, BlockRevision, BlockRow, BlockWrite, FullMemory } from './records.ts'

/** A block of an owner, without its text. */
export interface OwnBlock {
  readonly kind: MemoryKind
  readonly key: string
  /** The length of its text. */
  readonly characters: number
}

/** What a store has of the block, and beside it. */
export interface BlockStanding {
  /** The block; null if there is none of that key. */
  readonly current: BlockRow | null
  /** The last revision that the key had; of an unknown one, the last of all that were erased; 0 if none is known. */
  readonly last: number
  /** The result that this call had before; null if it has not written. */
  readonly done: BlockResult | null
  /** All blocks of the owner, this one too. */
  readonly own: readonly OwnBlock[]
}

/** What a store has to do: nothing but give a result, or one change. */
type BlockDecision =
  | { readonly kind: 'done'; readonly result: BlockResult }
  | { readonly kind: 'put'; readonly row: BlockRow }
  | { readonly kind: 'delete'; readonly revision: number }

/** No block has this key: under it a store keeps the last revision of the erased blocks of an owner. */
export const erasedKey = ''

/** How long a deleted key goes on counting, and what was erased, in ms. */
export const deletedKeyMs = 7 * 86_400_000

/** What a write does. Pure. */
export function decideWrite(write: BlockWrite, { current, last, done, own }: BlockStanding): BlockDecision {
  const { owner, key, text, expected, id, at, by } = write
  if (done !== null) return over(done)
  if ((current?.revision ?? null) !== expected) return over({ ok: false, reason: 'conflict', block: current })
  const revision = last + 1
  if (text === '')
    return current === null ? over({ ok: true, revision: last, block: null }) : { kind: 'delete', revision }
  const kind = write.kind ?? current?.kind ?? 'core'
  const full = fullOf(write, kind, own)
  if (full !== null) return over({ ok: false, reason: 'full', full })
  const made = current ?? { id, createdAt: at }
  return {
    kind: 'put',
    row: { ...owner, id: made.id, kind, key, text, revision, createdAt: made.createdAt, updatedAt: at, writtenBy: by },
  }
}

/** One writing of a call, as a store has kept it; `text` is null once the block is deleted. */
export interface WrittenBefore extends Omit<BlockRevision, 'text'> {
  readonly kind: MemoryKind
  readonly text: string | null
}

/** The result that a call had, from what it wrote and the block now. */
export function resultAgain(written: WrittenBefore | null, current: BlockRow | null): BlockResult | null {
  if (written === null) return null
  const { revision, kind, text, at, writtenBy } = written
  if (current === null || text === null) return { ok: true, revision, block: null }
  return { ok: true, revision, block: { ...current, revision, kind, text, updatedAt: at, writtenBy } }
}

function over(result: BlockResult): BlockDecision {
  return { kind: 'done', result }
}

/** What a write would make too much; null if it fits, or makes its kind no larger. */
function fullOf({ key, text, limits }: BlockWrite, kind: MemoryKind, own: readonly OwnBlock[]): FullMemory | null {
  const there = own.filter((one) => one.kind === kind)
  const used = there.reduce((sum, { characters }) => sum + characters, 0)
  const before = there.find((one) => one.key === key)?.characters ?? null
  const allowed = kind === 'core' ? limits.coreCharacters : limits.archivalCharacters
  const growth = text.length - (before ?? 0)
  if (growth > 0 && used + growth > allowed)
    return { what: 'characters', kind, used, allowed, largest: largestOf(there) }
  const most = kind === 'core' ? limits.coreBlocks : mostArchivalBlocks
  if (before === null && there.length >= most)
    return { what: 'blocks', kind, used: there.length, allowed: most, largest: largestOf(there) }
  return null
}

function largestOf(blocks: readonly OwnBlock[]): FullMemory['largest'] {
  return blocks
    .map(({ key, characters }) => ({ key, characters }))
    .sort((one, other) => other.characters - one.characters || (one.key < other.key ? -1 : 1))
    .slice(0, 5)
}
