/** Exports a store to lines, and stores what was read from lines. This process runs no jobs meanwhile; other processes may. */
import { isDeepStrictEqual } from 'node:util'
import { isWitanError, WitanError } from '@witan/protocol'
import { type AgentRow, documentsOf, isBaseRow } from '../agent/records.ts'
import { type Changed, changedBy } from '../identity/changed.ts'
import { localPrincipal, type Principal } from '../identity/principal.ts'
import { auditOf } from './audit.ts'
import { blockLines, blocksOf, type MovingBlock, standingOfBlock } from './export-blocks.ts'
import { arrivedJob, isLive } from './job-change.ts'
import { type MovingLine, type MovingOf, movingRows, movingVersion } from './export-lines.ts'
import { findKeys, type KeyRow, listKeys, putKey } from './keys.ts'
import { documentLines, importDocument, standingOfDocument } from './export-documents.ts'
import { opened } from './open-snapshot.ts'
import type { Addition } from './record.ts'
import type { ConversationSnapshot, JobRow, ListedConversation, OpenSnapshot, Store } from './store.ts'

/**
 * One agent with all its revisions, one API key without the key itself, one document of a knowledge base, one
 * block of memory with its revisions, or one complete conversation. The export of one conversation also says what a replay must know of the runtime.
 */
export type ExportItem =
  | MovingOf<'agent'>
  | MovingOf<'key'>
  | MovingOf<'document'>
  | MovingOf<'runtime'>
  | MovingBlock
  | { readonly kind: 'conversation'; readonly database: string; readonly snapshot: ConversationSnapshot }

const pageSize = 200

/**
 * Exports these databases line by line, in an order that depends only on their content. Each conversation is a consistent snapshot.
 * Throws `REVISION_MISMATCH` at the end if agents changed meanwhile. Remembered replies are not exported.
 */
export async function* exportStore(store: Store, databases: readonly string[]): AsyncGenerator<MovingLine> {
  yield { kind: 'witan-store', version: movingVersion, databases: [...databases] }
  const counts = { agents: 0, conversations: 0, keys: 0, documents: 0, blocks: 0 }
  const seen = new Map<string, string>()
  for (const database of databases) {
    seen.set(database, await agentsMark(store, database))
    for await (const line of agentLines(store, database)) {
      yield line
      counts.agents += 1
    }
    for (const key of await keysOf(store, database)) {
      yield { kind: 'key', database, key: movingRows.key(key) }
      counts.keys += 1
    }
    for await (const line of documentLines(store, database)) {
      yield line
      counts.documents += 1
    }
  }
  for (const database of databases) {
    for (const id of await conversationIds(store, database)) {
      const snapshot = await store.openSnapshot(database, id)
      if (snapshot === null) continue // deleted or expired meanwhile
      yield* snapshotLines(database, snapshot)
      counts.conversations += 1
    }
    for await (const block of blocksOf(store, database)) {
      yield* blockLines(block)
      counts.blocks += 1
    }
  }
  for (const [database, mark] of seen) if (mark !== (await agentsMark(store, database))) throw changedError(database)
  const { agents, conversations, ...others } = counts
  const some = Object.fromEntries(Object.entries(others).filter(([, count]) => count > 0))
  yield { kind: 'end', agents, conversations, ...some }
}

async function* agentLines(store: Store, database: string): AsyncGenerator<MovingOf<'agent'>> {
  const current = await currentRevisions(store, database)
  for (const id of await store.listAgentIds(database)) yield await agentLine(store, { database, id }, current)
}

/** A complete file with the agents and protocols of a database, in all their revisions, and nothing else. */
export async function* exportAgents(store: Store, database: string): AsyncGenerator<MovingLine> {
  yield { kind: 'witan-store', version: movingVersion, databases: [database] }
  let agents = 0
  for await (const line of agentLines(store, database)) {
    yield line
    agents += 1
  }
  yield { kind: 'end', agents, conversations: 0 }
}

/** A complete file with one conversation and its blocks of memory, which an import takes. Its rows are read as the lines are taken. */
export async function* exportedAlone(
  store: Store,
  database: string,
  snapshot: OpenSnapshot,
): AsyncGenerator<MovingLine> {
  yield { kind: 'witan-store', version: movingVersion, databases: [database] }
  yield* snapshotLines(database, snapshot)
  let blocks = 0
  for await (const block of blocksOf(store, database, snapshot.row.id)) {
    yield* blockLines(block)
    blocks += 1
  }
  yield { kind: 'end', agents: 0, conversations: 1, ...(blocks === 0 ? {} : { blocks }) }
}

function changedError(database: string): WitanError {
  const detail = `Agents of database \`${database}\` changed during the export.`
  return new WitanError('REVISION_MISMATCH', detail, { hint: 'Export again while no agent changes.' })
}

async function agentsMark(store: Store, database: string): Promise<string> {
  const ids = await store.listAgentIds(database)
  const last = await Promise.all(ids.map((id) => store.lastAgentRevision(database, id)))
  return JSON.stringify([ids, last, [...(await currentRevisions(store, database))]])
}

/** The revision of every definition that is not deleted, by id. */
export async function currentRevisions(store: Store, database: string): Promise<Map<string, number>> {
  return new Map((await store.listAgents(database)).map(({ id, revision }) => [id, revision]))
}

/** An agent or a protocol with all its revisions, as a line. */
export async function agentLine(
  store: Store,
  { database, id }: { readonly database: string; readonly id: string },
  revisionsNow: ReadonlyMap<string, number>,
): Promise<MovingOf<'agent'>> {
  const last = await store.lastAgentRevision(database, id)
  const current = revisionsNow.get(id) ?? null
  const revisions: MovingOf<'agent'>['revisions'] = []
  for (let revision = 1; revision <= last; revision += 1) {
    const row = await store.getAgentRevision(database, id, revision)
    if (row === null) continue
    const { source, data, warnings } = row
    revisions.push(movingRows.revision({ revision, source, data: { ...data }, warnings: [...warnings] }))
  }
  return { kind: 'agent', database, id, current, revisions }
}

/** Oldest first, as an import stores them. */
async function keysOf(store: Store, database: string): Promise<readonly KeyRow[]> {
  const keys: KeyRow[] = []
  for (;;) {
    const rows = await listKeys(store, database, { limit: pageSize, after: keys.at(-1)?.id ?? null })
    keys.push(...rows)
    if (rows.length < pageSize) return keys.reverse()
  }
}

/** Oldest first, so that an import in this order keeps the order of lists; only those that are wanted. */
export async function conversationIds(
  store: Store,
  database: string,
  isWanted: (row: ListedConversation) => boolean = () => true,
): Promise<readonly string[]> {
  const found: { readonly id: string; readonly isWanted: boolean }[] = []
  for (;;) {
    const page = { limit: pageSize, after: found.at(-1)?.id ?? null, agent: null, createdBy: null }
    try {
      const rows = await store.listConversations(database, page)
      for (const row of rows) found.push({ id: row.id, isWanted: isWanted(row) })
      if (rows.length === pageSize) continue
      return found
        .filter((one) => one.isWanted)
        .map(({ id }) => id)
        .reverse()
    } catch (error) {
      // The last one was deleted meanwhile: continue after the one before it.
      const isGone = isWitanError(error) && error.code === 'BODY_INVALID'
      if (!isGone || found.pop() === undefined) throw error
    }
  }
}

/** The lines of one conversation. Its rows are read as the lines are taken. */
export async function* snapshotLines(database: string, snapshot: OpenSnapshot): AsyncGenerator<MovingLine> {
  const { row, entries, jobs, interruptions, contents, participants } = snapshot
  yield {
    kind: 'conversation',
    database,
    row: movingRows.conversation(row),
    jobs: jobs.count,
    interruptions: interruptions.count,
    ...(contents.count === 0 ? {} : { contents: contents.count }),
    ...(participants.length === 0 ? {} : { participants: participants.length }),
  }
  for await (const entry of entries) yield { kind: 'entry', entry: movingRows.entry(entry) }
  for await (const job of jobs) yield { kind: 'job', job: movingRows.job(settled(job)) }
  for await (const one of interruptions) yield { kind: 'interruption', interruption: movingRows.interruption(one) }
  for await (const one of contents) yield { kind: 'content', content: movingRows.content(one) }
  for (const one of participants) yield { kind: 'participant', participant: movingRows.participant(one) }
}

/** A job as it is after the import, without its owner. */
function settled(job: JobRow): JobRow {
  const arrived = arrivedJob(job)
  return isLive(job) ? arrived : { ...arrived, wake: false }
}

/** What a store holds under an item's name: nothing, a part (an interrupted agent import), the same, or something else. */
export type Standing = 'new' | 'part' | 'same' | 'other'

/** What the databases of a store hold, read once: definitions by id, with their revisions now, and keys by id. */
export interface Known {
  agents(database: string): Promise<Map<string, number>>
  keys(database: string): Promise<Map<string, KeyRow>>
  /** The name under which the documents of a base are kept. */
  documents(at: { readonly database: string; readonly base: string }): Promise<string>
}

/** Begins to look at a store with many items. What an import adds is noted; what others change meanwhile is refused by the store. */
export function knownOf(store: Store): Known {
  const agents = new Map<string, Promise<Map<string, number>>>()
  const keys = new Map<string, Promise<Map<string, KeyRow>>>()
  const documents = new Map<string, Promise<Map<string, string>>>()
  const namesById = async (database: string) => {
    const bases = (await store.listAgents(database)).filter(isBaseRow)
    return new Map(bases.map((row) => [row.data.id, documentsOf(row)]))
  }
  const keysById = async (database: string) => new Map((await keysOf(store, database)).map((key) => [key.id, key]))
  return {
    agents: (database) => readOnce(agents, database, () => currentRevisions(store, database)),
    keys: (database) => readOnce(keys, database, () => keysById(database)),
    // A file has the bases of a database before their documents.
    documents: async ({ database, base }) =>
      (await readOnce(documents, database, () => namesById(database))).get(base) ?? base,
  }
}

function readOnce<Value>(read: Map<string, Promise<Value>>, key: string, make: () => Promise<Value>): Promise<Value> {
  const known = read.get(key) ?? make()
  read.set(key, known)
  return known
}

/** Compares an item with what the store holds under its name. */
export async function standingOf(store: Store, item: ExportItem, known: Known = knownOf(store)): Promise<Standing> {
  const { database } = item
  if (item.kind === 'runtime') throw forReplayError()
  if (item.kind === 'document') return standingOfDocument(store, item, await known.documents(item))
  if (item.kind === 'memory') return standingOfBlock(store, item)
  if (item.kind === 'conversation') {
    const there = await store.openSnapshot(database, item.snapshot.row.id)
    if (there === null) return 'new'
    const given = snapshotLines(database, opened(item.snapshot))
    return (await areSame(snapshotLines(database, there), given)) ? 'same' : 'other'
  }
  if (item.kind === 'key') {
    const there = (await known.keys(database)).get(item.key.id)
    if (there === undefined) return (await findKeys(store, [item.key.digest])).length === 0 ? 'new' : 'other'
    const used = { lastUsedAt: null } // a key that was used since is still the same
    return isDeepStrictEqual({ ...movingRows.key(there), ...used }, { ...item.key, ...used }) ? 'same' : 'other'
  }
  if ((await store.lastAgentRevision(database, item.id)) === 0) return 'new'
  const there = await agentLine(store, item, await known.agents(database))
  if (isDeepStrictEqual(json(there), json(item))) return 'same'
  const first = item.revisions.slice(0, there.revisions.length)
  const isBegun = there.current === there.revisions.at(-1)?.revision
  return isBegun && isDeepStrictEqual(json(there.revisions), json(first)) ? 'part' : 'other'
}

function forReplayError(): WitanError {
  return new WitanError(
    'BODY_INVALID',
    'This is the export of one conversation, without the values that are hidden in it.',
    {
      hint: 'Play it again with `witan conversations replay`; `witan export` writes a file for import.',
    },
  )
}

async function areSame(stored: AsyncGenerator<MovingLine>, given: AsyncGenerator<MovingLine>): Promise<boolean> {
  for await (const line of stored) {
    const other = await given.next()
    if (other.done === true || !isDeepStrictEqual(json(line), json(other.value))) return false
  }
  return (await given.next()).done === true
}

function json(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value))
}

/**
 * Begins an import by this principal; the result stores one item. A conversation is stored atomically. False if the same is stored
 * already; throws `NAME_TAKEN` if something else is. The audit of a database gets one record, with the first item that is new there:
 * nothing in a file says who changed what.
 */
export function importInto(
  store: Store,
  principal: Principal = localPrincipal,
): (item: ExportItem) => Promise<boolean> {
  const begun = new Set<string>()
  const known = knownOf(store)
  return async (item) => {
    const { database } = item
    const standing = await standingOf(store, item, known)
    if (standing === 'same') return false
    if (standing === 'other') throw takenError(item)
    const changed = changedBy({ ...principal, via: 'import' }, store.now(database))
    const noted = auditOf(changed, { kind: 'database', name: database, action: 'import' })
    await importItem(store, item, { changed, known, beside: begun.has(database) ? [] : [noted] })
    begun.add(database)
    return true
  }
}

interface Import {
  readonly changed: Changed
  readonly known: Known
  /** What is stored with the first write of the item. */
  readonly beside: readonly Addition[]
}

async function importItem(store: Store, item: ExportItem, of: Import): Promise<void> {
  if (item.kind === 'agent') await importAgent(store, item, of)
  else if (item.kind === 'runtime') throw forReplayError()
  else if (item.kind === 'document')
    await importDocument(store, item, { name: await of.known.documents(item), at: of.changed.at })
  else if (item.kind === 'memory') await importBlock(store, item, of)
  else if (item.kind === 'key') {
    const key = { ...item.key, database: item.database }
    if (!(await putKey(store, key, of.beside))) throw takenError(item)
    ;(await of.known.keys(item.database)).set(key.id, key)
  } else if (!(await store.putSnapshot(item.database, item.snapshot, of.beside))) throw takenError(item)
}

async function importBlock(store: Store, item: MovingBlock, { beside }: Import): Promise<void> {
  const { database, block, revisions } = item
  if (!(await store.putBlock(database, block, revisions))) throw takenError(item)
  for (const one of beside) await store.addRecord(database, one)
}

async function importAgent(
  store: Store,
  { database, id, current, revisions }: MovingOf<'agent'>,
  { changed, known, beside }: Import,
): Promise<void> {
  const there = await known.agents(database)
  let last = there.get(id) ?? 0
  let left = beside
  const change = async (row: AgentRow | null) => {
    const isDone = await store.changeAgents(database, [{ id, ifRevision: last, row }], left)
    if (isDone) left = []
    if (isDone && row !== null) there.set(id, row.revision)
    else if (isDone) there.delete(id)
    if (isDone) return
    throw takenError({ kind: 'agent', database, id, current, revisions })
  }
  for (const { revision, ...rest } of revisions) {
    if (revision <= last) continue
    await change({ database, id, revision, ...rest, changed } as unknown as AgentRow)
    last = revision
  }
  if (current === null) await change(null)
}

function whatIs(item: ExportItem): string {
  if (item.kind === 'runtime') return 'What is known of a runtime'
  if (item.kind === 'agent') return `Agent \`${item.id}\``
  if (item.kind === 'document') return `Document \`${item.key}\` of knowledge base \`${item.base}\``
  if (item.kind === 'memory') return `Block \`${item.block.key}\` of the memory of agent \`${item.block.agent}\``
  return item.kind === 'key' ? `Key \`${item.key.id}\`` : `Conversation \`${item.snapshot.row.id}\``
}

/** The error for an item whose name is taken. */
export function takenError(item: ExportItem): WitanError {
  const what = whatIs(item)
  return new WitanError('NAME_TAKEN', `${what} of database \`${item.database}\` already exists with other content.`, {
    hint: 'Import into a store of its own, before anything else is stored in it.',
  })
}
