/** What readers get: conversations, documents, runs, events and interruptions, all of them views of the log and its small tables. */
import { idOf } from '../agent/naming.ts'
import type {
  Conversation,
  DatabaseId,
  DetailLevel,
  Document,
  Event,
  EventPage,
  RunResult,
  RunState,
} from '@witan/protocol'
import { WitanError } from '@witan/protocol'
import { type DocumentFold, emptyDocument, pageOf as documentPage, takeEntry } from '../conversation/document.ts'
import { storedOf } from '../conversation/given.ts'
import { callTree } from '../conversation/tree.ts'
import { entriesOf } from '../conversation/warm.ts'
import { entryFilter, toEvent } from '../event/project.ts'
import { tail } from '../event/tail.ts'
import { channelOf } from '../identity/channel.ts'
import { visibleValues } from '../parameter/visibility.ts'
import { bind } from '../parameter/bind.ts'
import type { EventFilter, Page, PageOptions } from './contract.ts'
import { type InterruptionView, openOf, present } from './interruptions.ts'
import { runLine, runStatus, taskOf } from './jobs.ts'
import type { Parts } from './wiring.ts'
import { startOf } from '../store/cursor.ts'
import type { ConversationRow, JobRow } from '../store/store.ts'

/** Whose view. */
export interface View {
  readonly parts: Parts
  readonly database: DatabaseId
}

const iso = (at: number): string => new Date(at).toISOString()
const isoOrNull = (at: number | null): string | null => (at === null ? null : iso(at))

function notFound(what: string, id: string): WitanError {
  return new WitanError('NOT_FOUND', `There is no ${what} \`${id.slice(0, 200)}\`.`, {
    hint: 'It may have been deleted, or belong to somebody else.',
  })
}

/** The limit of a page. Throws `BODY_INVALID`. */
export function limitOf(options: PageOptions): number {
  const { limit = 50 } = options
  if (Number.isInteger(limit) && limit >= 1 && limit <= 200) return limit
  throw new WitanError('BODY_INVALID', `limit must be an integer 1–200, got ${limit}.`, {
    path: 'limit',
    hint: 'Leave it out for 50.',
  })
}

/** One page of a list that is in memory already. */
export function pageOf<Item>(items: readonly Item[], options: PageOptions, id: (item: Item) => string): Page<Item> {
  const limit = limitOf(options)
  const { cursor = null } = options
  const start = startOf(items, cursor, id)
  const page = items.slice(start, start + limit)
  const last = page.at(-1)
  return { items: page, nextCursor: last !== undefined && start + limit < items.length ? id(last) : null }
}

/** One page of stored rows, each as its reader gets it. */
export async function rowPage<Row, Item>(
  options: PageOptions,
  read: (limit: number) => Promise<readonly Row[]>,
  to: { item: (row: Row) => Item | Promise<Item>; id: (row: Row) => string },
): Promise<Page<Item>> {
  const limit = limitOf(options)
  const rows = await read(limit + 1)
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  return {
    items: await Promise.all(shown.map(to.item)),
    nextCursor: rows.length > limit && last !== undefined ? to.id(last) : null,
  }
}

const isLive = (job: JobRow): boolean => job.endedAt === null

function summary(row: ConversationRow, live: JobRow | undefined) {
  return {
    id: row.id,
    agent: row.agent,
    createdAt: iso(row.createdAt),
    lastMessageAt: iso(row.lastMessageAt),
    expiresAt: isoOrNull(row.expiresAt),
    lastSeq: row.lastSeq,
    activeRunId: live?.id ?? null,
    status: live === undefined ? ('idle' as const) : (live.status as 'running' | 'waiting'),
  }
}

/** The row of a conversation. Throws `NOT_FOUND`. */
export async function conversationRow({ parts, database }: View, id: string): Promise<ConversationRow> {
  const row = await parts.store.getConversation(database, id)
  if (row === null) throw notFound('conversation', id)
  return row
}

/** A conversation with its open interruptions and its runs. Throws `NOT_FOUND`. */
export async function getConversation(view: View & InterruptionView, id: string): Promise<Conversation> {
  const { parts, database } = view
  const row = await conversationRow(view, id)
  const jobs = await parts.store.listJobs(database, id)
  const isTask = ({ kind }: JobRow) => kind === 'task'
  const runs = jobs.filter((job) => !isTask(job))
  return {
    ...summary(row, runs.find(isLive)),
    interruptions: await openOf(view, row),
    tasks: jobs.filter((job) => isTask(job) && isLive(job)).map(taskOf),
    runs: runs.map(runLine),
  }
}

/** A page of conversations, the newest first. */
export function listConversations({ parts, database }: View, options: PageOptions & { agent?: string }) {
  const read = (limit: number) =>
    parts.store.listConversations(database, {
      limit,
      after: options.cursor ?? null,
      agent: options.agent === undefined ? null : idOf(options.agent, parts.registry.rows(database)),
      createdBy: null,
    })
  const item = async (row: ConversationRow) => {
    const live = await parts.store.listJobs(database, row.id, { live: true })
    return summary(
      row,
      live.find(({ kind }) => kind === 'run'),
    )
  }
  return rowPage(options, read, { item, id: (row) => row.id })
}

/** A run with its call tree; its result where it has told one. Throws `NOT_FOUND`. */
export async function getRun(view: View & InterruptionView, id: string): Promise<RunState> {
  const { parts, database } = view
  const job = await parts.store.getJob(database, id)
  if (job?.kind !== 'run' || (await parts.store.getConversation(database, job.conversation)) === null)
    throw notFound('run', id)
  const tree = await callTree(
    entriesOf(parts.store, { database, conversation: job.conversation, after: job.firstSeq - 1 }),
    id,
  )
  if (tree === null) throw notFound('run', id)
  const result = job.status === 'running' ? null : await present(view, job.result as RunResult)
  return {
    runId: id,
    conversationId: job.conversation,
    status: runStatus(job),
    startedAt: iso(job.createdAt),
    endedAt: isoOrNull(job.endedAt),
    result,
    toolRounds: tree.toolRounds,
    tree: tree.root,
  }
}

/** Options of a document read. */
export interface DocumentOptions {
  readonly before?: string
  readonly after?: string
  readonly limit?: number
  readonly detail?: DetailLevel
}

/** One conversation document. Throws `NOT_FOUND`. */
export async function getDocument(
  { parts, database }: View,
  path: string,
  options: DocumentOptions,
): Promise<Document> {
  const before = dateOf(options.before, 'before')
  const after = dateOf(options.after, 'after')
  if (before !== null && after !== null)
    throw new WitanError('RUN_INPUT_INVALID', 'Send `before` or `after`, not both.', {
      path: 'before',
      hint: 'Both are exclusive dates.',
    })
  const id = path.split('/').slice(0, 2).join('/')
  const row = await parts.store.getConversation(database, id)
  if (row === null) throw notFound('document', path)
  const reader = emptyDocument(path)
  for await (const entry of entriesOf(parts.store, { database, conversation: id })) takeEntry(reader, entry)
  if (reader.definition === null && path !== id) throw notFound('document', path)
  const page = documentPage(reader, { before, after, limit: limitOf(options), detail: options.detail ?? 'detailed' })
  const last = reader.messages.at(-1)
  return {
    id: path,
    agent: reader.definition?.agent ?? row.agent,
    parameters: await documentParameters({ parts, database }, row, reader),
    ...page,
    linkedConversations: [...reader.linked],
    openCalls: [...reader.open.values()],
    totalUsage: reader.usage,
    createdAt: iso(reader.createdAt ?? row.createdAt),
    lastMessageAt: iso(last?.at ?? row.createdAt),
    expiresAt: isoOrNull(row.expiresAt),
  }
}

function dateOf(text: string | undefined, name: string): number | null {
  if (text === undefined) return null
  const at = Date.parse(text)
  if (!Number.isNaN(at)) return at
  throw new WitanError('BODY_INVALID', `\`${name}\` must be an ISO date.`, {
    path: name,
    hint: 'Such as 2026-01-31T12:00:00Z.',
  })
}

/** The names that the document's agent declares; hidden ones without their value [C18]. */
async function documentParameters(
  { parts, database }: View,
  row: ConversationRow,
  reader: DocumentFold,
): Promise<Document['parameters']> {
  const shown: Document['parameters'] = {}
  const agent =
    reader.definition === null
      ? parts.registry.rows(database).get(row.agent)?.data
      : await pinned({ parts, database }, reader.definition)
  if (agent === undefined) return shown
  const { given } = storedOf(row.parameters)
  const visible =
    reader.visible ?? visibleValues(agent.parameters, bind(agent.parameters, { parent: null, given, map: {} }).bound)
  for (const { name } of agent.parameters) {
    const hiddenMeanwhile = reader.path === row.id && given.get(name)?.hidden === true
    const open = Object.hasOwn(visible, name) && !hiddenMeanwhile
    shown[name] = open ? { value: visible[name], sendToModel: true } : { sendToModel: false }
  }
  return shown
}

async function pinned({ parts, database }: View, at: { agent: string; revision: number }) {
  await parts.registry.ensureRevision(database, at.agent, at.revision)
  return parts.registry.revision(database, at.agent, at.revision)
}

/** A page of stored events. Throws `NOT_FOUND`, `EVENT_ID_AHEAD`. */
export async function readEvents(
  { parts, database }: View,
  id: string,
  filter: EventFilter & { limit?: number },
): Promise<EventPage> {
  const row = await eventsRow({ parts, database }, id, filter.from ?? 0)
  const limit = Math.min(Math.max(filter.limit ?? 1000, 1), 10_000)
  const wanted = entryFilter({ verbose: filter.verbose ?? false, call: filter.call ?? null })
  const from = filter.from ?? 0
  const events: Event[] = []
  let lastSeq = from
  let more = false
  for await (const entry of entriesOf(parts.store, {
    database,
    conversation: id,
    after: filter.call === undefined ? from : 0,
  })) {
    const shown = wanted(entry) && entry.seq > from
    if (shown && events.length === limit) {
      more = true
      break
    }
    if (shown) events.push(toEvent(entry, id))
    lastSeq = Math.max(lastSeq, entry.seq)
  }
  return { events, lastSeq: more ? lastSeq : Math.max(lastSeq, row.lastSeq), more }
}

async function eventsRow({ parts, database }: View, id: string, from: number): Promise<ConversationRow> {
  const row = await conversationRow({ parts, database }, id)
  if (from <= row.lastSeq) return row
  throw new WitanError('EVENT_ID_AHEAD', `Event ${from} does not exist yet; the last is ${row.lastSeq}.`, {
    path: 'from',
    hint: 'Start from an event you have seen.',
  })
}

/** Stored events, then live ones. Throws `NOT_FOUND`, `EVENT_ID_AHEAD`. */
export function followEvents(
  { parts, database, ready }: View & { ready: () => Promise<void> },
  id: string,
  filter: EventFilter & { signal: AbortSignal },
): AsyncIterable<Event> {
  const from = filter.from ?? 0
  const source = {
    conversation: id,
    channel: channelOf(database, id),
    hub: parts.hub,
    async open() {
      await ready()
      await eventsRow({ parts, database }, id, from)
    },
    read: (after: number, limit: number) => parts.store.readEntries(database, id, { after, limit }),
  }
  return tail(source, { from, verbose: filter.verbose ?? false, call: filter.call ?? null, signal: filter.signal })
}
