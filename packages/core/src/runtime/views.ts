/** What readers see: conversations, documents, runs, events and interruptions. All are views of the log and its small tables. */
import type { Conversation, Event, EventPage, RunLine, RunState } from '@witan/protocol'
import { WitanError } from '@witan/protocol'
import type { Entry } from '@witan/protocol/entries'
import { digestPattern } from '@witan/protocol/files'
import { createDiagram, type Diagram, type Exchange } from '@witan/protocol/protocols'
import { exchangesOf } from '../conversation/exchange-view.ts'
import { callTree } from '../conversation/tree.ts'
import { entriesOfRun } from '../conversation/copy-log.ts'
import { entriesOf } from '../conversation/warm-conversations.ts'
import { entryFilter, toEvent } from '../event/project.ts'
import { errorFor, eventFor } from './reader-errors.ts'
import { tail } from '../event/tail.ts'
import { pageBound } from '../identity/page-bound.ts'
import { channelOf } from '../identity/channel.ts'
import type { EventFilter, EventPageOptions, FileContent, Page, PageOptions } from './contract.ts'
import { rowPage } from './page.ts'
import { openOf, shownResult } from './interruptions.ts'
import { conversationRow, jobRow, reached } from './reach.ts'
import type { Scope } from './scope.ts'
import { runLine, runStatus, taskOf } from './jobs.ts'
import type { ReadBound } from '../identity/row-page.ts'
import type { ConversationRow, JobRow } from '../store/store.ts'
import type { StoredResult } from '../task/tracker.ts'
import { traceIdOf } from '../identity/trace.ts'
import { notFound } from '../identity/not-found.ts'
import { personOf } from '../identity/rights.ts'

const iso = (at: number): string => new Date(at).toISOString()
const isoOrNull = (at: number | null): string | null => (at === null ? null : iso(at))

/** The fields of a conversation that its own page and lists share. `live` is its active run. */
export function summary(row: ConversationRow, live: Pick<JobRow, 'id' | 'status'> | undefined) {
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

/** A file of a conversation. Throws `NOT_FOUND`. */
export async function readFile(scope: Scope, id: string, digest: string): Promise<FileContent> {
  const { parts, database } = scope
  await conversationRow(scope, id)
  const content = digestPattern.test(digest) ? await parts.store.readContent(database, id, digest) : null
  if (content === null) throw notFound('file', digest)
  const { name, mediaType, bytes } = content
  return { name, mediaType, bytes }
}

/** How many runs a conversation's page shows; only the latest can be live. */
const runsShown = 50

/** A conversation with its open interruptions and its latest runs. Throws `NOT_FOUND`. */
export async function getConversation(scope: Scope, id: string): Promise<Conversation> {
  return showConversation(scope, await conversationRow(scope, id))
}

/** The same of a row that was read before. */
export async function showConversation(scope: Scope, row: ConversationRow): Promise<Conversation> {
  const { parts, database } = scope
  const { id } = row
  // One read for the run and the tasks: a task that ends in one append with the start of a follow-up must not hide both.
  const live = await parts.store.listJobs(database, id, { live: true })
  const runs = await parts.store.listRuns(database, id, { limit: runsShown, after: null })
  const active = live.find(({ kind }) => kind === 'run') ?? runs.find(({ endedAt }) => endedAt === null)
  return {
    ...summary(row, active),
    interruptions: await openOf(scope, row),
    tasks: live.filter(({ kind }) => kind === 'task').map((job) => errorFor(scope.principal, taskOf(job))),
    runs: runs.toReversed().map(runLine),
    runCount: runs.length < runsShown ? runs.length : await parts.store.countRuns(database, id),
  }
}

/**
 * A page of the runs of a conversation, newest first. Throws `NOT_FOUND`, and `BODY_INVALID` for a cursor that is not a run
 * of it.
 */
export async function listRuns(scope: Scope, id: string, options: PageOptions): Promise<Page<RunLine>> {
  await conversationRow(scope, id)
  const { parts, database } = scope
  return rowPage(options, (page) => parts.store.listRuns(database, id, page), { item: runLine, id: (job) => job.id })
}

/** The job of a run, and its entries. Throws `NOT_FOUND`. */
async function runEntriesOf(
  scope: Scope,
  id: string,
): Promise<{ readonly job: JobRow; readonly entries: AsyncIterable<Entry> }> {
  const { parts, database } = scope
  const job = await jobRow(scope, id, { kind: 'run', deed: 'read' })
  const { conversation, firstSeq } = job
  const log = entriesOf(parts.store, { database, conversation, after: firstSeq - 1 })
  return { job, entries: entriesOfRun(log, id) }
}

/** The exchanges between the peers of a run. Throws `NOT_FOUND`. */
export async function getExchanges(scope: Scope, id: string): Promise<Exchange[]> {
  return exchangesOf((await runEntriesOf(scope, id)).entries, id)
}

/** A run as a sequence diagram. Throws `NOT_FOUND`. */
export async function getDiagram(scope: Scope, id: string): Promise<Diagram> {
  const { job, entries } = await runEntriesOf(scope, id)
  const diagram = createDiagram(id)
  for await (const entry of entries) diagram.take(eventFor(scope.principal, toEvent(entry, job), entry))
  return diagram
}

/** A run with its call tree, and its result if it has one. Throws `NOT_FOUND`. */
export async function getRun(scope: Scope, id: string): Promise<RunState> {
  const { job, entries } = await runEntriesOf(scope, id)
  const tree = await callTree(entries, id)
  if (tree === null) throw notFound('run', id)
  const result = job.status === 'running' ? null : await shownResult(scope, job.result as StoredResult)
  return {
    runId: id,
    conversationId: job.conversation,
    traceId: traceIdOf(scope.database, id),
    status: runStatus(job),
    startedAt: iso(job.createdAt),
    endedAt: isoOrNull(job.endedAt),
    result,
    toolRounds: tree.toolRounds,
    plan: tree.root.plan,
    tree: tree.root,
  }
}

/** A page of stored events. Throws `NOT_FOUND`, `EVENT_ID_AHEAD`. */
export async function readEvents(scope: Scope, id: string, filter: EventPageOptions): Promise<EventPage> {
  const { parts, database } = scope
  const row = await eventsRow(scope, id, filter.from ?? 0)
  const limit = Math.min(Math.max(filter.limit ?? 1000, 1), 10_000)
  const wanted = entryFilter({
    verbose: filter.verbose ?? false,
    call: filter.call ?? null,
    branch: filter.branch ?? null,
  })
  const { from = 0, bound = pageBound() } = filter
  const events: Event[] = []
  let lastSeq = from
  let more = false
  for await (const entry of entriesOf(parts.store, {
    database,
    conversation: id,
    after: filter.call === undefined ? from : 0,
  })) {
    if (wanted(entry) && entry.seq > from) {
      const event = eventFor(scope.principal, toEvent(entry, { database, conversation: id }), entry)
      more = events.length === limit || !(await bound.fits(event))
      if (more) break
      events.push(event)
    }
    lastSeq = Math.max(lastSeq, entry.seq)
  }
  return { events, lastSeq: more ? lastSeq : Math.max(lastSeq, row.lastSeq), more }
}

async function eventsRow(scope: Scope, id: string, from: number): Promise<ConversationRow> {
  const row = await conversationRow(scope, id)
  if (from <= row.lastSeq) return row
  throw new WitanError('EVENT_ID_AHEAD', `Event ${from} does not exist yet; the last is ${row.lastSeq}.`, {
    path: 'from',
    hint: 'Start from an event you have seen.',
  })
}

/** Stored events, then live ones. Throws `NOT_FOUND`, `EVENT_ID_AHEAD`. */
export function followEvents(
  scope: Scope,
  id: string,
  filter: EventFilter & { signal: AbortSignal },
): AsyncIterable<Event> {
  const { parts, database, ready } = scope
  const from = filter.from ?? 0
  const source = {
    database,
    conversation: id,
    channel: channelOf(database, id),
    hub: parts.hub,
    async open() {
      await ready()
      await eventsRow(scope, id, from)
    },
    read: (after: number, limit: number, bound: ReadBound) =>
      parts.store.readEntries(database, id, { after, limit, bound }),
  }
  return tail(source, {
    from,
    verbose: filter.verbose ?? false,
    call: filter.call ?? null,
    branch: filter.branch ?? null,
    signal: filter.signal,
    shown: (event, entry) => eventFor(scope.principal, event, entry),
    // Whoever leaves reads no further, unless another role lets them.
    mayGoOn: async ({ user, change }) =>
      change === 'joined' || user !== personOf(scope.principal) || (await reached(scope, id, 'read')) !== null,
  })
}
