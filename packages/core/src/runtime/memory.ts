/** What agents remember, for the people that it is about and for administrators: read, write, change and erase [F39]. */
import { type AgentData, WitanError } from '@witan/protocol'
import {
  changedMemorySchema,
  type MemoryBlock,
  type MemoryRevision,
  type MemorySettings,
  type MemoryConversation,
  type MemoryWriter,
  memorySettingsSchema,
  newMemorySchema,
} from '@witan/protocol/memory'
import { isoDate } from '../event/project.ts'
import { notFound } from '../identity/not-found.ts'
import { pageBound } from '../identity/page-bound.ts'
import { subjectOf } from '../identity/principal.ts'
import { hasRole } from '../identity/rights.ts'
import { pause } from '../identity/turn.ts'
import { limitsOf } from '../memory/owners.ts'
import type { BlockFilter, BlockOwner, BlockResult, BlockRevision, BlockRow, BlockWrite } from '../memory/records.ts'
import { readCharacters } from '../identity/row-page.ts'
import { fullText } from '../tool/kinds/memory.ts'
import { parseBody } from './body.ts'
import { deleteConversation } from './conversations.ts'
import type { MemoryAdmin, MemoryQuery } from './memory-contract.ts'
import { limitOf, type Page, rowPage } from './page.ts'
import { conversationRow } from './reach.ts'
import type { Scope } from './scope.ts'

/** The memory of one database, as far as the principal reaches it. */
export function memoryAdmin(scope: Scope): MemoryAdmin {
  const { parts, database, ready } = scope
  const { store } = parts
  return {
    async list(query = {}) {
      await ready()
      return listBlocks(scope, query)
    },
    async get(id) {
      await ready()
      return blockOf(await reachedBlock(scope, id, 'read'))
    },
    async create(request) {
      await ready()
      const { key, text, kind, ...about } = parseBody(newMemorySchema, request)
      await parts.registry.ensure(database)
      const { owner, settings } = await ownerOf(scope, about)
      const written = await store.writeBlock(database, {
        ...{ owner, key, text, kind, expected: null, call: null, limits: limitsOf(settings) },
        ...{ id: `m${parts.env.ids.call().slice(1)}`, at: store.now(database), by: writerOf(scope) },
      })
      return blockOf(rowOf(written, key))
    },
    async change(id, request) {
      await ready()
      const { text, expectedRevision } = parseBody(changedMemorySchema, request)
      const row = await reachedBlock(scope, id, 'write')
      await parts.registry.ensure(database)
      const settings = settingsOf(scope, row.agent) ?? memorySettingsSchema.parse({})
      const write: BlockWrite = {
        ...{ owner: ownerIn(row), key: row.key, kind: null, text, expected: expectedRevision, call: null },
        ...{ id, limits: limitsOf(settings), at: store.now(database), by: writerOf(scope) },
      }
      return blockOf(rowOf(await store.writeBlock(database, write), row.key))
    },
    async delete(id) {
      await ready()
      await reachedBlock(scope, id, 'write')
      if (!(await store.deleteBlock(database, id))) throw notFound('memory block', id)
    },
    async revisions(id, options = {}) {
      await ready()
      await reachedBlock(scope, id, 'read')
      return rowPage(options, (page) => store.listBlockRevisions(database, id, page), {
        item: revisionOf,
        id: ({ revision }) => String(revision),
      })
    },
    async conversations({ subject, agent = null, ...options }) {
      await ready()
      if (!mayReach(scope, subject, 'read')) throw notFound('memory', subject)
      return rowPage(options, (page) => store.listBlockUses(database, { ...page, subject, agent }), {
        item: (conversationId): MemoryConversation => ({ conversationId }),
        id: (conversationId) => conversationId,
      })
    },
    async erase({ subject, agent = null, conversations = false }) {
      await ready()
      if (!mayReach(scope, subject, 'write')) throw notFound('memory', subject)
      const erased = await store.eraseBlocks(database, { subject, agent })
      const ids = await usesOf(scope, { subject, agent })
      if (!conversations) return { erased, conversations: ids }
      return { erased, conversations: ids, deleted: await deleteReached(scope, ids) }
    },
  }
}

/** The most conversations that an erasure names; a repeat names others once these are deleted. */
const mostNamed = 10_000
const namedAtOnce = 500

async function usesOf({ parts, database }: Scope, about: { readonly subject: string; readonly agent: string | null }) {
  const ids: string[] = []
  for (let after: string | null = null; ids.length < mostNamed; ) {
    const page: readonly string[] = await parts.store.listBlockUses(database, { ...about, after, limit: namedAtOnce })
    ids.push(...page)
    after = page.at(-1) ?? null
    if (page.length < namedAtOnce) break
  }
  return ids
}

/** Deletes the conversations that the principal may delete now; one with a live run stays. */
async function deleteReached(scope: Scope, ids: readonly string[]): Promise<string[]> {
  const deleted: string[] = []
  for (const id of ids) {
    try {
      await deleteConversation(scope, id)
      deleted.push(id)
    } catch (error) {
      if (!(error instanceof WitanError) || (error.code !== 'NOT_FOUND' && error.code !== 'RUN_ACTIVE')) throw error
    }
  }
  return deleted
}

/** The block, if the principal may do this with it: what is about itself, and with `admin` all; `read` reads what is about nobody. */
async function reachedBlock(scope: Scope, id: string, deed: 'read' | 'write'): Promise<BlockRow> {
  const row = await scope.parts.store.getBlock(scope.database, id)
  if (row === null || !mayReach(scope, row.subject, deed)) throw notFound('memory block', id)
  return row
}

function mayReach({ principal }: Pick<Scope, 'principal'>, subject: string | null, deed: 'read' | 'write'): boolean {
  if (hasRole(principal, 'admin')) return true
  if (subject === null) return deed === 'read' && hasRole(principal, 'read')
  return subject === subjectOf(principal)
}

/** How many blocks are looked through for words at once, and for one page. */
const chunk = 200
const mostLooked = 2_000

async function listBlocks(scope: Scope, { q = '', ...query }: MemoryQuery): Promise<Page<MemoryBlock>> {
  const { parts, database } = scope
  const filter = filterOf(scope, query)
  const words = plain(q).split(/\s+/).filter(Boolean)
  if (words.length === 0)
    return rowPage(query, (page) => parts.store.listBlocks(database, { ...page, ...filter }), {
      item: blockOf,
      id: ({ id }) => id,
    })
  const limit = limitOf(query)
  const bound = query.bound ?? pageBound()
  const items: MemoryBlock[] = []
  let after = query.cursor ?? null
  for (let looked = 0; looked < mostLooked; looked += chunk) {
    let isCut = false
    const cut = () => {
      isCut = true
    }
    const page = { limit: chunk, after, bound: { characters: readCharacters, cut } }
    const rows = await parts.store.listBlocks(database, { ...page, ...filter })
    for (const row of rows) {
      if (items.length === limit) return { items, nextCursor: after }
      const text = plain(`${row.key} ${row.text}`)
      if (words.every((word) => text.includes(word))) {
        const shown = blockOf(row)
        if (!(await bound.fits(shown))) return { items, nextCursor: after }
        items.push(shown)
      }
      after = row.id
    }
    if (rows.length < chunk && !isCut) return { items, nextCursor: null }
    await pause()
  }
  return { items, nextCursor: after }
}

/** Folds case and Unicode forms. */
function plain(text: string): string {
  return text.normalize('NFKC').toLowerCase()
}

/** Which blocks a list has: without `admin` those about the principal. Throws `NOT_FOUND` for those of somebody else. */
function filterOf(
  scope: Scope,
  { agent = null, subject = null, scope: kindOfOwner = null, kind = null }: MemoryQuery,
): BlockFilter {
  const filter = { agent, subject, scope: kindOfOwner, kind }
  const { principal } = scope
  if (hasRole(principal, 'admin')) return filter
  if (kindOfOwner === 'agent' && hasRole(principal, 'read')) return filter
  const own = subjectOf(principal)
  if (own === null || (subject !== null && subject !== own)) throw notFound('memory', subject ?? 'anonymous')
  return { ...filter, subject: own }
}

/** Whose a new block is, and the settings of its agent. Throws `NOT_FOUND`, `BODY_INVALID`. */
async function ownerOf(
  scope: Scope,
  about: { agent: string; scope: BlockOwner['scope']; subject: string | null; conversationId: string | null },
): Promise<{ readonly owner: BlockOwner; readonly settings: MemorySettings }> {
  const { agent, subject, conversationId } = about
  const isAbout = about.scope !== 'agent'
  if (isAbout && subject === null) throw invalid('subject', 'Say whom it is about, such as `user:anna`.')
  if (!isAbout && subject !== null)
    throw invalid('subject', 'Leave it out: in the scope `agent` a block is about nobody.')
  if (!mayReach(scope, subject, 'write')) throw notFound('memory', subject ?? agent)
  const isOfOne = about.scope === 'conversation'
  if (isOfOne !== (conversationId !== null))
    throw invalid('conversationId', 'The scope `conversation` has one, and no other scope has.')
  const settings = settingsOf(scope, agent)
  if (settings === undefined) throw notFound('agent', agent)
  if (settings === null || !settings.scopes.includes(about.scope))
    throw invalid('scope', `Agent \`${agent}\` has no memory in the scope \`${about.scope}\`: see its key \`memory\`.`)
  if (conversationId !== null) await conversationRow(scope, conversationId)
  return { owner: { agent, scope: about.scope, subject, conversation: conversationId }, settings }
}

/** The settings of an agent's memory: null if it has none; undefined if there is no such agent. */
function settingsOf({ parts, database }: Scope, agent: string): MemorySettings | null | undefined {
  const data: AgentData | undefined = parts.registry.current(database).agents.get(agent)?.data
  return data === undefined ? undefined : (data.memory ?? null)
}

function invalid(path: string, hint: string): WitanError {
  return new WitanError('BODY_INVALID', `\`${path}\` does not fit the scope.`, { path, hint })
}

function ownerIn({ agent, scope, subject, conversation }: BlockRow): BlockOwner {
  return { agent, scope, subject, conversation }
}

function writerOf({ principal }: Scope): MemoryWriter {
  return { id: principal.id, agent: null, conversationId: null, runId: null }
}

/** The block that was written. Throws `MEMORY_CONFLICT` with the present one as `current`, `MEMORY_FULL`, `NOT_FOUND`. */
function rowOf(result: BlockResult, key: string): BlockRow {
  if (result.ok && result.block !== null) return result.block
  if (result.ok || result.reason === 'gone') throw notFound('memory block', key)
  if (result.reason === 'full')
    throw new WitanError('MEMORY_FULL', fullText(result.full), {
      path: 'text',
      hint: 'Shorten or erase blocks, or raise the limits in the agent’s `memory`.',
      details: { ...result.full },
    })
  const { block } = result
  const detail =
    block === null ? `There is no block \`${key}\` any more.` : `Block \`${key}\` has revision ${block.revision} now.`
  throw new WitanError('MEMORY_CONFLICT', detail, {
    path: 'expectedRevision',
    hint: 'Read `current`, and send its revision as `expectedRevision`.',
    details: { current: block === null ? null : blockOf(block) },
  })
}

function blockOf(row: BlockRow): MemoryBlock {
  const { id, agent, scope, subject, conversation, kind, key, text, revision, createdAt, updatedAt, writtenBy } = row
  return {
    ...{ id, agent, scope, subject, conversationId: conversation, kind, key, text, revision },
    ...{ createdAt: isoDate(createdAt), updatedAt: isoDate(updatedAt), writtenBy },
  }
}

function revisionOf({ revision, text, at, writtenBy }: BlockRevision): MemoryRevision {
  return { revision, text, at: isoDate(at), writtenBy }
}
