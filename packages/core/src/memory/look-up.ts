/** What a model reads of its agent's memory when its work begins. */
import type { MemoryBody, NoticeBody, RememberedBlock } from '@witan/protocol/entries'
import type { MemorySettings } from '@witan/protocol/memory'
import { runByPieces } from '../identity/pausable.ts'
import type { BlockRecords, BlockRow } from './records.ts'
import { type Owned, onlyScope, ownersOf, type Rememberer } from './owners.ts'
import { recalled } from './recall.ts'

/** Where blocks are kept. */
export type Blocks = Pick<BlockRecords, 'readBlocks' | 'noteBlockUse' | 'writeBlock'>

/** What was looked up: what a model is to read, null for nothing, and what people are told. */
export interface LookedUp {
  readonly body: MemoryBody | null
  readonly notices: readonly NoticeBody[]
}

/** A block as a log keeps it. */
export function asRemembered({ id, scope, kind, key, text, revision, updatedAt }: BlockRow): RememberedBlock {
  return { id, scope, kind, key, text, revision, updatedAt }
}

/**
 * Reads blocks of owners for a model. That they are used in this conversation is stored before: whoever erases them later learns that it
 * quotes them.
 */
export async function readForModel(
  blocks: Blocks,
  { database, agent, conversationId }: Rememberer & { readonly database: string },
  { owners, subject }: Owned,
): Promise<readonly BlockRow[]> {
  const rows = await blocks.readBlocks(database, owners)
  if (subject === null || rows.every((row) => row.subject === null)) return rows
  await blocks.noteBlockUse(database, { agent: agent.id, subject, conversation: conversationId })
  return blocks.readBlocks(database, owners)
}

/** Looks up what a caller's model is to read first. `query`: the message that begins its work. */
export async function lookUp(
  blocks: Blocks,
  caller: Rememberer & { readonly database: string },
  query: string,
): Promise<LookedUp> {
  const memory = caller.agent.memory as MemorySettings
  const owned = ownersOf(caller)
  const notices = owned.isWithheld ? [withheld(caller.agent.id)] : []
  if (owned.owners.length === 0) return { body: null, notices }
  const rows = await readForModel(blocks, caller, owned)
  const core = rows.filter(({ kind }) => kind === 'core')
  const archival = memory.archival === 'auto' ? rows.filter(({ kind }) => kind === 'archival') : []
  const found = archival.length === 0 ? [] : await runByPieces(recalled(archival, query))
  const { subject } = owned
  const about = { op: 'read', agent: caller.agent.id, scope: onlyScope(memory), subject } as const
  const extra = found.length === 0 ? {} : { recalled: found.map(asRemembered) }
  return { body: { ...about, blocks: core.map(asRemembered), ...extra }, notices }
}

function withheld(agent: string): NoticeBody {
  const detail = `\`${agent}\` neither reads nor writes what it knows of people: several take part here, or nobody is known.`
  return { code: 'MEMORY_WITHHELD', detail, agent }
}
