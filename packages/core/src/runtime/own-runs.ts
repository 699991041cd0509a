/** The runs of the conversations that a principal began itself, as a caller from outside follows them. */
import type { Event, Interruption, RunLine, RunResult } from '@witan/protocol'
import type { Entry } from '@witan/protocol/entries'
import { tooManyTasks } from '../command/accept.ts'
import { renewEvidence } from '../command/answer-interruption.ts'
import { entriesOfRun } from '../conversation/copy-log.ts'
import { entriesOf } from '../conversation/warm-conversations.ts'
import { tail } from '../event/tail.ts'
import { channelOf } from '../identity/channel.ts'
import { authorOf } from '../identity/principal.ts'
import { frozen } from '../identity/frozen.ts'
import { notFound } from '../identity/not-found.ts'
import { pageStart } from '../store/cursor.ts'
import type { ReadBound, RowPage } from '../identity/row-page.ts'
import type { ConversationRow, InterruptionRow, JobRow, OwnerRow } from '../store/store.ts'
import type { RunPlace, RunsOf } from '../store/runs-of.ts'
import { mayCall } from '../identity/agent-access.ts'
import { isOutside, type Principal, principalOf } from '../identity/principal.ts'
import { outsideKinds } from '../interruption/may-answer.ts'
import { selfOf } from './author.ts'
import type { DemandTerms } from '../tool/demand.ts'
import { runStatus } from './jobs.ts'
import { type Page, type PageOptions, rowPage } from './page.ts'
import { eventFor } from './reader-errors.ts'
import type { Scope } from './scope.ts'

/** What the caller of a run may be asked, if it is for nobody in particular: without bound values, and a condition only if that caller may meet it. */
export type Asked = Extract<Interruption, { readonly kind: 'question' | 'action' | 'policy' }>

/** A run as its caller follows it. */
export interface OwnRun {
  readonly runId: string
  readonly conversationId: string
  readonly agent: string
  readonly status: RunLine['status']
  /** Since when it has this status. */
  readonly changedAt: number
  /** The cursor of a list behind this run, as it is now. */
  readonly cursor: string
  /** The last result; null while it works. */
  readonly result: Pick<RunResult, 'text' | 'output' | 'error'> | null
  /** What it has cost, as far as that is counted; null while it works. */
  readonly usage: RunResult['usage'] | null
  /** What waits for the caller; empty unless it waits. */
  readonly asked: readonly Asked[]
}

/** What was said between a run and its caller, in order. */
export type OwnMessage =
  | { readonly by: 'caller'; readonly seq: number; readonly id: string | null; readonly text: string }
  | {
      readonly by: 'caller'
      readonly seq: number
      readonly id: null
      readonly answerTo: string
      readonly kind: Asked['kind']
      readonly answer: unknown
    }
  | { readonly by: 'agent'; readonly seq: number; readonly asked: Asked }

/** Selects runs; what is absent selects all. */
export interface OwnRunFilter {
  readonly agents?: readonly string[]
  readonly conversation?: string
  readonly live?: boolean
  readonly status?: Exclude<RunLine['status'], 'running' | 'waiting'>
  /** The least `changedAt`. */
  readonly since?: number
}

/** All methods throw `NOT_FOUND` for what another principal began, whatever roles the caller has. */
export interface OwnRuns {
  get(runId: string): Promise<OwnRun>
  /**
   * The last changed first; those of one conversation the last begun first. One page looks at 2,000 runs at most, so it may hold fewer than
   * its limit and still have a cursor; of live ones it finds all. A run that changes while pages are read stands at the top of the next list.
   */
  list(filter?: OwnRunFilter & PageOptions): Promise<Page<OwnRun>>
  /** How many a list has, among the first 2,000 that it looks at. */
  count(filter?: OwnRunFilter): Promise<number>
  /** Throws `TOO_MANY_TASKS` if so many have not ended. */
  refuseMore(most: number): Promise<void>
  /** The agent of a conversation. */
  agentOf(conversationId: string): Promise<string>
  /** The run of a conversation that has not ended; null if there is none. */
  liveIn(conversationId: string): Promise<OwnRun | null>
  /** Resolves when the run parks or ends after `seen`. Rejects if it is deleted, or the runtime closes. */
  moved(seen: OwnRun): Promise<void>
  history(run: OwnRun): Promise<readonly OwnMessage[]>
  /** For whom a run works, with what its evidence proved as it began: a request for a task carries none. */
  principalOf(run: OwnRun): Promise<Principal>
  /** Resolves what waits in a conversation for fresh evidence with that of the principal, where it has some [E22]. */
  renew(conversationId: string): Promise<void>
  /** Announces a reader: until the returned function is called, models are asked for their texts as they write them. */
  watch(conversationId: string): () => void
  /** The events of a run that a caller may see, from its beginning and then live. */
  follow(run: Pick<OwnRun, 'runId' | 'conversationId'>, signal: AbortSignal): AsyncIterable<Event>
}

/** The runs of one principal; every method waits until the runtime is ready. */
export function ownRuns(scope: Scope): OwnRuns {
  const { parts, database, principal, ready } = scope
  const { store } = parts
  /** What was read for a run that this gave: its own, so who owns it needs no second look. */
  const known = new WeakMap<object, JobRow>()
  const jobOf = async (run: Pick<OwnRun, 'runId'>): Promise<JobRow> =>
    known.get(run) ?? (await ownJob(scope, run.runId)).job
  const give = async (job: JobRow, row: Pick<ConversationRow, 'agent'> | null): Promise<OwnRun> => {
    const run = await shown(scope, job, row)
    known.set(run, job)
    return run
  }
  return {
    async get(id) {
      await ready()
      const { job, row } = await ownJob(scope, id)
      return give(job, row)
    },
    async list(filter = {}) {
      await ready()
      const wanted = wantedRuns(principal.id, filter)
      let next: RunPlace | null = null
      const owners = new Map<string, OwnerRow>()
      const read = async ({ after, ...rows }: Omit<RowPage, 'bound'> & { readonly bound: ReadBound }) => {
        const found = await store.listRunsOf(database, { ...rows, ...wanted, after: placeIn(after) })
        next = found.next
        const asked = new Set(found.rows.map(({ conversation }) => conversation).filter((id) => !owners.has(id)))
        const rowsOf = asked.size === 0 ? [] : await store.readOwners(database, [...asked], null)
        for (const one of rowsOf) owners.set(one.id, one)
        return found.rows
      }
      const page = await rowPage(filter, read, {
        item: (job) => give(job, owners.get(job.conversation) ?? null),
        id: cursorOf,
      })
      return { items: page.items, nextCursor: page.nextCursor ?? (next === null ? null : cursorOf(next)) }
    },
    async count(filter = {}) {
      await ready()
      return store.countRunsOf(database, wantedRuns(principal.id, filter))
    },
    async refuseMore(most) {
      await ready()
      if ((await store.countLiveRunsOf(database, principal.id, most)) >= most) throw tooManyTasks(most)
    },
    async agentOf(id) {
      await ready()
      return (await ownConversation(scope, id)).agent
    },
    async liveIn(id) {
      await ready()
      const row = await ownConversation(scope, id)
      const job = (await store.listJobs(database, id, { live: true })).find(({ kind }) => kind === 'run')
      return job === undefined ? null : give(job, row)
    },
    async moved({ runId, status }) {
      await ready()
      const { job } = await ownJob(scope, runId)
      const waits = job.status === 'waiting' && !job.wake
      if (job.endedAt !== null || (waits && status !== 'waiting')) return
      // A parked run is claimed in a later epoch.
      await parts.tracker.next(waits ? { ...job, epoch: job.epoch + 1 } : job)
    },
    async history(run) {
      await ready()
      return historyOf(scope, run.runId, await jobOf(run))
    },
    principalOf: async (run) => begunFor(scope, run.runId, await jobOf(run)),
    async renew(id) {
      if (principal.incoming?.evidence === undefined) return
      await ready()
      await ownConversation(scope, id)
      await parts.registry.ensure(database)
      await renewEvidence(parts, await parts.warm.latest(database, id), principal)
    },
    watch(id) {
      const nobody = { entries: () => undefined, delta: () => undefined, doubt: () => undefined, gone: () => undefined }
      const subscription = parts.hub.join(channelOf(database, id), nobody)
      return () => subscription.leave()
    },
    async *follow(run, signal) {
      await ready()
      yield* follow(scope, await jobOf(run), signal)
    },
  }
}

/** How many runs one page looks at. */
const mostLooked = 2_000

function wantedRuns(createdBy: string, filter: OwnRunFilter): RunsOf & { readonly look: number } {
  const { agents = null, conversation = null, live = null, status = null, since = null } = filter
  return { createdBy, agents, conversation, live, status, since, look: mostLooked }
}

function cursorOf({ changedAt, id }: RunPlace): string {
  return `${changedAt}~${id}`
}

/** Throws `BODY_INVALID`. */
function placeIn(cursor: string | null): RunPlace | null {
  if (cursor === null) return null
  const [, changedAt, id] = /^(\d{1,15})~([^~]{1,200})$/.exec(cursor) ?? []
  return { changedAt: Number(changedAt), id: pageStart(id) }
}

async function ownConversation({ parts, database, principal }: Scope, id: string): Promise<ConversationRow> {
  const row = await parts.store.getConversation(database, id)
  if (row === null || row.createdBy !== principal.id) throw notFound('conversation', id)
  return row
}

async function ownJob(scope: Scope, id: string): Promise<{ readonly job: JobRow; readonly row: ConversationRow }> {
  const { parts, database, principal } = scope
  const job = await parts.store.getJob(database, id)
  const row = job?.kind === 'run' ? await parts.store.getConversation(database, job.conversation) : null
  if (job === null || row === null || row.createdBy !== principal.id) throw notFound('run', id)
  return { job, row }
}

/** A woken run is at work, although no process has claimed it yet. */
async function shown(scope: Scope, job: JobRow, row: Pick<ConversationRow, 'agent'> | null): Promise<OwnRun> {
  const { id: runId, conversation: conversationId } = job
  const isWoken = job.status === 'waiting' && job.wake
  const status = isWoken ? 'running' : runStatus(job)
  const rests = status !== 'running'
  const waiting = status === 'waiting' ? await askedOf(scope, job) : []
  const result = rests ? (job.result as RunResult) : null
  const { text = '', output = null, error = null } = result ?? {}
  return {
    ...{ runId, conversationId, agent: row?.agent ?? '', status },
    changedAt: job.changedAt,
    cursor: cursorOf(job),
    result: result === null ? null : frozen({ text, output, error }),
    usage: result === null ? null : frozen(result.usage),
    asked: waiting,
  }
}

async function askedOf(scope: Scope, job: JobRow): Promise<readonly Asked[]> {
  const { interruptions } = job.result as RunResult
  const rows = await Promise.all(interruptions.map(({ id }) => scope.parts.store.getInterruption(scope.database, id)))
  const open: Asked[] = []
  for (const row of rows) {
    if (row === null || row.job !== job.id || row.view.state !== 'open' || !isForCaller(row.view)) continue
    const runs = limitOf(row) === null ? null : await principalOfRun(scope, job)
    if (mayMeet(row, scope.principal, runs)) open.push(frozen(row.view))
  }
  return open
}

/** The principal of a live run, with what its evidence has proved: a request for a task carries none. */
async function principalOfRun({ parts, database }: Scope, { conversation }: JobRow): Promise<Principal | null> {
  await parts.registry.ensure(database)
  const log = await parts.warm.latest(database, conversation)
  return log.state.run?.principal ?? null
}

function isForCaller(one: Interruption): one is Asked {
  return one.addressee === null && outsideKinds.includes(one.kind)
}

/** Whether the caller of a run may meet what is asked; people and programs of this server may meet any condition [C21]. */
function mayMeet(row: InterruptionRow, caller: Principal, runs: Principal | null): boolean {
  const of = limitOf(row)
  if (of === null || !isOutside(caller)) return true
  return runs !== null && runs.id === caller.id && mayCall({ call: of }, runs)
}

/** Which callers may meet a condition; null for all. */
function limitOf({ view, terms }: InterruptionRow): DemandTerms['of'] | null {
  return view.kind === 'policy' ? ((terms as DemandTerms | null)?.of ?? null) : null
}

/** How far behind the first entry of a run its start may stand. */
const mostBefore = 15

/** The principal with which a run began, from its start; without any proof where it has none. */
async function begunFor(
  { parts, database, principal }: Scope,
  runId: string,
  { conversation, firstSeq }: JobRow,
): Promise<Principal> {
  const of = { database, conversation, after: firstSeq - 1, upTo: firstSeq + mostBefore }
  for await (const { type, kind, place, body } of entriesOf(parts.store, of))
    if (type === 'start' && kind === 'agent' && place.call === runId)
      return principalOf(database, body.principal, body.incoming)
  return principal
}

async function historyOf(
  scope: Scope,
  runId: string,
  { conversation, firstSeq }: JobRow,
): Promise<readonly OwnMessage[]> {
  const { parts, database, principal } = scope
  const messages: OwnMessage[] = []
  const by = { id: principal.id, author: selfOf(scope).author ?? authorOf(principal) }
  let runs: Principal | null = null
  const log = entriesOf(parts.store, { database, conversation, after: firstSeq - 1 })
  for await (const entry of entriesOfRun(log, runId)) {
    const { type, kind, body, place } = entry
    if (type === 'start' && kind === 'agent' && place.call === runId)
      runs = principalOf(database, body.principal, body.incoming)
    const row = type === 'policy_required' ? await parts.store.getInterruption(database, body.id) : null
    if (row === null || mayMeet(row, principal, runs)) messages.push(...said(entry, by, messages))
  }
  return messages
}

/**
 * What an entry adds to what was said. Words and answers of others are not the caller's; what only `user` said is, if it came with an id of
 * its sender, as over A2A.
 */
function said(
  entry: Entry,
  by: { readonly id: string; readonly author: string },
  before: readonly OwnMessage[],
): readonly OwnMessage[] {
  const { seq, place } = entry
  if (entry.type === 'message') {
    const { author, text, messageId = null, exchange } = entry.body
    const isOwn = author === by.author && (author !== 'user' || messageId !== null)
    return isOwn && place.call === place.run && exchange === undefined
      ? [{ by: 'caller', seq, id: messageId, text }]
      : []
  }
  if (entry.type === 'question_required' || entry.type === 'action_required' || entry.type === 'policy_required') {
    const { held: _, ...asked } = entry.body
    const isOwn = entry.job === place.run && isForCaller(asked as Interruption)
    return isOwn ? [{ by: 'agent', seq, asked: frozen(asked) as Asked }] : []
  }
  if (entry.type !== 'resolved' || entry.body.state !== 'answered') return []
  const { id, answer } = entry.body
  if (entry.body.by !== by.id) return []
  const asked = before.find((one) => one.by === 'agent' && one.asked.id === id)
  if (asked?.by !== 'agent') return []
  return [{ by: 'caller', seq, id: null, answerTo: id, kind: asked.asked.kind, answer: frozen(answer) }]
}

async function* follow(
  scope: Scope,
  { id: runId, conversation: id, firstSeq }: JobRow,
  signal: AbortSignal,
): AsyncGenerator<Event, void, void> {
  const { parts, database } = scope
  const source = {
    ...{ database, conversation: id, channel: channelOf(database, id), hub: parts.hub },
    open: async () => undefined,
    read: (after: number, limit: number, bound: ReadBound) =>
      parts.store.readEntries(database, id, { after, limit, bound }),
  }
  const shownTo = (event: Event, entry: Entry): Event => eventFor(scope.principal, event, entry)
  const options = { from: firstSeq - 1, verbose: false, call: null, branch: null, signal, shown: shownTo }
  for await (const event of tail(source, options)) if (event.rootCallId === runId) yield event
}
