/** Blocks of agents' memory in the tables of the store in memory: by owner, by id, and by what they are deleted with. */
import type { BlockOwner, BlockRevision, BlockRow, BlockUse } from '../../memory/records.ts'
import { deletedKeyMs, erasedKey, type WrittenBefore } from '../../memory/write.ts'

/** A key of an owner: its block, or what is known of a deleted one. */
export interface KeptKey {
  readonly owner: BlockOwner
  readonly key: string
  row: BlockRow | null
  /** The last revision. */
  last: number
  deletedAt: number
  /** The oldest first; empty once it is deleted. */
  revisions: readonly BlockRevision[]
  /** What calls wrote. */
  readonly calls: Map<string, WrittenBefore>
}

/** The blocks of a database, and who used them. Each group is in the order in which blocks were made. */
export interface KeptBlocks {
  /** By owner, then by key. */
  readonly owners: Map<string, Map<string, KeptKey>>
  readonly ids: Map<string, KeptKey>
  readonly subjects: Map<string, Set<KeptKey>>
  readonly conversations: Map<string, Set<KeptKey>>
  /** The longest deleted first. */
  readonly deleted: Set<KeptKey>
  /** By conversation, then by subject and agent. */
  readonly uses: Map<string, Map<string, BlockUse>>
}

/** No blocks. */
export function noBlocks(): KeptBlocks {
  const groups = { subjects: new Map(), conversations: new Map() }
  return { owners: new Map(), ids: new Map(), ...groups, deleted: new Set(), uses: new Map() }
}

/** The keys of an owner. */
export function keysOf({ owners }: KeptBlocks, owner: BlockOwner): ReadonlyMap<string, KeptKey> {
  return owners.get(nameOf(owner)) ?? new Map()
}

function nameOf({ agent, scope, subject, conversation }: BlockOwner): string {
  return JSON.stringify([agent, scope, subject, conversation])
}

/** Adds a block, behind all others; or another revision of one. */
export function keepBlock(blocks: KeptBlocks, kept: KeptKey, row: BlockRow): void {
  if (kept.row === null) {
    dropKey(blocks, kept)
    blocks.ids.set(row.id, kept)
    keepKey(blocks, kept)
  }
  kept.row = row
  kept.last = Math.max(kept.last, row.revision)
}

/** Deletes a block with its revisions; the key goes on counting. */
export function deleteKept(blocks: KeptBlocks, kept: KeptKey, now: number): void {
  blocks.ids.delete(kept.row?.id ?? '')
  blocks.deleted.add(kept)
  for (const [call, written] of kept.calls) kept.calls.set(call, { ...written, text: null })
  Object.assign(kept, { row: null, last: kept.last + 1, deletedAt: now, revisions: [] })
}

/** Removes all that is known of a key. */
function dropKey(blocks: KeptBlocks, kept: KeptKey): void {
  blocks.deleted.delete(kept)
  if (kept.row !== null) blocks.ids.delete(kept.row.id)
  const name = nameOf(kept.owner)
  blocks.owners.get(name)?.delete(kept.key)
  if (blocks.owners.get(name)?.size === 0) blocks.owners.delete(name)
  for (const [groups, of] of groupsOf(blocks, kept)) {
    groups.get(of)?.delete(kept)
    if (groups.get(of)?.size === 0) groups.delete(of)
  }
}

/** A key that has no block yet. It counts on behind what its owner had and was erased. */
export function newKey(
  blocks: KeptBlocks,
  { agent, scope, subject, conversation, key }: BlockOwner & Pick<BlockRow, 'key'>,
): KeptKey {
  const owner = { agent, scope, subject, conversation }
  const last = keysOf(blocks, owner).get(erasedKey)?.last ?? 0
  return { owner, key, row: null, last, deletedAt: 0, revisions: [], calls: new Map() }
}

/** Removes all that is known of a key, but the last revision of its owner. True if it had a block. */
export function eraseKey(blocks: KeptBlocks, kept: KeptKey, now: number): boolean {
  if (kept.key === erasedKey) return false
  const erased = newKey(blocks, { ...kept.owner, key: erasedKey })
  const before = keysOf(blocks, kept.owner).get(erasedKey)
  if (before !== undefined) dropKey(blocks, before)
  Object.assign(erased, { last: Math.max(erased.last, kept.last), deletedAt: now })
  dropKey(blocks, kept)
  keepKey(blocks, erased)
  blocks.deleted.add(erased)
  return kept.row !== null
}

function keepKey(blocks: KeptBlocks, kept: KeptKey): void {
  groupIn(blocks.owners, nameOf(kept.owner), () => new Map<string, KeptKey>()).set(kept.key, kept)
  for (const [groups, name] of groupsOf(blocks, kept)) groupIn(groups, name, () => new Set<KeptKey>()).add(kept)
}

function groupsOf({ subjects, conversations }: KeptBlocks, { owner: { subject, conversation } }: KeptKey) {
  const all = [[subjects, subject] as const, [conversations, conversation] as const]
  return all.flatMap(([groups, name]) => (name === null ? [] : [[groups, name] as const]))
}

function groupIn<Group>(groups: Map<string, Group>, name: string, make: () => Group): Group {
  const found = groups.get(name) ?? make()
  groups.set(name, found)
  return found
}

/** Removes deleted keys that have counted for long enough. */
export function forgetDeleted(blocks: KeptBlocks, now: number): void {
  for (const kept of blocks.deleted) {
    if (kept.deletedAt >= now - deletedKeyMs) return
    dropKey(blocks, kept)
  }
}

/** Notes that blocks were used in a conversation. */
export function noteUse({ uses }: KeptBlocks, { agent, subject, conversation }: BlockUse): void {
  const name = JSON.stringify([subject, agent])
  groupIn(uses, conversation, () => new Map<string, BlockUse>()).set(name, { agent, subject, conversation })
}

/** Removes what belongs to a conversation. */
export function removeBlocks(blocks: KeptBlocks, conversation: string): void {
  for (const kept of blocks.conversations.get(conversation) ?? []) dropKey(blocks, kept)
  blocks.uses.delete(conversation)
}
