/** The engine of a replay: the same fold and the same steps. Models and tools wait for the log, ids and times are those of the log. */
import type { AgentData } from '@witan/protocol'
import type { Entry, ListedServer } from '@witan/protocol/entries'
import { mcpUses } from '@witan/protocol/mcp'
import { Guards } from '../guard/checks.ts'
import { emptyState } from '../conversation/fold.ts'
import { oneHistory } from '../conversation/known-history.ts'
import { ConversationLog } from '../conversation/log.ts'
import { liveJob } from '../conversation/state.ts'
import { storedOf } from '../conversation/stored-values.ts'
import { type Clock, systemClock } from '../identity/clock.ts'
import type { Environment } from '../job/environment.ts'
import { abortAll, Job, release } from '../job/job.ts'
import { advance } from '../run/loop.ts'
import type { RuntimeOptions } from '../runtime/options.ts'
import { type Parts, wire } from '../runtime/wiring.ts'
import type { Append, AppendResult, ConversationRow, JobRow, Store } from '../store/store.ts'
import type { FunctionTool } from '../tool/define-tool.ts'
import type { OfferedServer } from '@witan/protocol/mcp'
import type { Listing } from '../tool/mcp/offered.ts'
import { takeOver } from '../worker/drive.ts'
import { idsOf, type FollowedIds } from './ids.ts'
import { attemptAhead, isBrought, isTakenUpAgain, nextRunStart, sharesAhead, refusalAhead } from './lookahead.ts'
import { loggedTools, type OutsideWorld, otherModel } from './outside.ts'
import { drop, type UnderWay } from './under-way.ts'
import { nextIn, numberOfNext, type FollowedLog, takeEntry } from './followed-log.ts'
import type { Fold, ModelEntry, FoldPlace } from '../conversation/folds.ts'

/** Content by digest. */
type Contents = ReadonlyMap<string, Uint8Array>

/** What an engine is made from. */
interface EngineOptions {
  readonly store: Store
  /** The conversation before its first entry. */
  readonly row: ConversationRow
  readonly followed: FollowedLog
  readonly contents: Contents
  readonly tools: readonly FunctionTool[]
  readonly sources: readonly string[]
  /** The ids of the models by the name that agents use. */
  readonly models: ReadonlyMap<string, string>
  readonly limits: NonNullable<RuntimeOptions['limits']>
  /** Loads the definitions that the log names into a runtime. */
  load(parts: Parts): Promise<void>
  /** Whether messages keep the header of their request. */
  readonly isTraced: boolean
}

/** One process that wrote to the log, as far as the replay has come with it. */
export interface LogProcess {
  readonly fold: Fold
  /** Its log. Null before it works on a job: only then its fold is needed. */
  log: ConversationLog | null
  /** How many entries of its fold it has folded. */
  at: number
  /** Its model calls that are to be asked here, or were before; up to which place of its fold they are known. */
  due: ModelEntry[]
  dueUpTo: number
}

/** The engine of one conversation. Nothing in it goes on by itself before the log is left. */
export interface Engine {
  readonly followed: FollowedLog
  readonly parts: Parts
  readonly ids: FollowedIds
  readonly outside: OutsideWorld
  readonly underWay: UnderWay
  readonly contents: Contents
  /** The jobs at work. */
  readonly jobs: Map<string, Job>
  /** Those of them that go on by themselves, until they end or rest. */
  readonly running: Map<string, Promise<void>>
  /** The processes by their folds. Once the log was left, one goes on with everything. */
  readonly processes: Map<Fold, LogProcess>
  /** An empty log of the conversation. */
  empty(process: () => LogProcess | null): ConversationLog
  /** The log that goes on, once the replay has left the one that it follows. */
  rest: ConversationLog | null
}

/** An engine that stands where the log does. */
export async function createEngine(options: EngineOptions): Promise<Engine> {
  const { followed, row, contents } = options
  const ids = idsOf(followed)
  const launch = (rows: readonly JobRow[]) => {
    for (const { id } of rows) begin(engine, id)
  }
  const outside: OutsideWorld = { model: null, outcome: null }
  const parts = partsOf(options, { outside, ids, launch })
  await options.load(parts)
  const { database, id, agent: rootAgent, maxModelIterationsPerCall } = row
  const empty = (process: () => LogProcess | null) => {
    const state = emptyState({ database, id, rootAgent, stored: storedOf(row.parameters), maxModelIterationsPerCall })
    const context = {
      append: async (append: Append) => store(engine, append, process()),
      stored: () => {},
      history: oneHistory,
      read: async () => [],
      agents: (agent: string, revision: number) => parts.registry.revision<AgentData>(database, agent, revision),
    }
    return new ConversationLog(state, context)
  }
  const engine: Engine = {
    ...{ followed, parts, ids, outside, contents, empty },
    ...{ underWay: { thinkings: new Map(), tools: new Map() }, jobs: new Map(), running: new Map() },
    ...{ processes: new Map(), rest: null },
  }
  return engine
}

/** The process that writes, or wrote, the entry at this index. */
export function processAt({ followed, processes }: Engine, index: number): LogProcess {
  const { fold } = followed.written[index] as FoldPlace
  const known = processes.get(fold) ?? { fold, log: null, at: fold.copied, due: [], dueUpTo: fold.copied - 1 }
  processes.set(fold, known)
  return known
}

/** Folds the next entry of a process. */
export function foldNext({ followed }: Engine, process: LogProcess): void {
  process.log?.sync.apply(followed.entries[process.fold.order[process.at] as number] as Entry)
  process.at += 1
}

/** The log of a process, with what it has folded. */
export function logOf(engine: Engine, process: LogProcess): ConversationLog {
  const { fold, at, log } = process
  if (log !== null) return log
  const fresh = engine.empty(() => process)
  for (const index of fold.order.slice(0, at)) fresh.sync.apply(engine.followed.came[index] as Entry)
  process.log = fresh
  return fresh
}

/** Leaves the log: one process goes on with everything that has come, and with what is outside. What was under way begins anew. */
export function goOnAlone(engine: Engine, outside: OutsideWorld): ConversationLog {
  const { followed, processes, jobs } = engine
  const { came } = followed
  const whole = [...processes.values()].find(({ log, at }) => log !== null && at === came.length)?.log
  const log = whole ?? engine.empty(() => null)
  if (whole === undefined) for (const entry of came) log.sync.apply(entry)
  for (const [id, job] of jobs) {
    drop(engine.underWay, job)
    job.lifecycle.modelCalls.length = 0
    if (job.log === log) continue
    leave(engine, job)
    jobs.delete(id)
  }
  followed.isOpen = true
  engine.rest = log
  Object.assign(engine.outside, outside)
  return log
}

/** Ends the engine: no timer of it is left. */
export function end(engine: Engine): void {
  const { parts, jobs } = engine
  parts.expiry.close()
  parts.env.timeLimit.close()
  for (const job of jobs.values()) leave(engine, job)
}

/** Its owner is gone: what it has under way ends without an entry. */
function leave({ underWay }: Engine, job: Job): void {
  job.lifecycle.stopped ??= 'over'
  abortAll(job, 'over')
  drop(underWay, job)
  release(job)
}

/** The job at work in this epoch on the log of a process. One of an earlier epoch is left, and taken over as a worker does. Null if it is not live. */
export function jobIn(
  engine: Engine,
  { job: id, epoch }: Pick<Entry, 'job' | 'epoch'>,
  log: ConversationLog,
): Job | null {
  const { jobs, followed, parts } = engine
  const known = jobs.get(id)
  const run = liveJob(log.state, id)
  if (known !== undefined && known.log === log && known.identity.epoch >= epoch && run !== null) return known
  if (known !== undefined) leave(engine, known)
  jobs.delete(id)
  if (run === null) return null
  const attempts = attemptAhead(followed, { job: id, epoch }) ?? 1
  const wasHere = isTakenUpAgain(followed, { job: id, epoch })
  const job = new Job(parts.env, log, { id, epoch, attempts })
  jobs.set(id, job)
  takeOver(job, { kind: run.grant === null ? 'run' : 'task', attempts }, wasHere)
  return job
}

/** Forgets a job that has ended or rests. */
export function forget({ jobs }: Engine, job: Job): void {
  release(job)
  jobs.delete(job.identity.id)
}

/** Goes on with a job by itself, once the log was left. */
export function begin(engine: Engine, id: string): void {
  const { jobs, rest, parts, running } = engine
  const run = rest === null ? null : liveJob(rest.state, id)
  if (rest === null || run === null || running.has(id)) return
  const job = jobs.get(id) ?? jobIn(engine, { job: id, epoch: run.worked.epoch + 1 }, rest)
  if (job === null) return
  const left = () => {
    running.delete(id)
    forget(engine, job)
  }
  const ended = advance(job).catch((error: unknown) => parts.env.report(error))
  running.set(id, ended.then(left))
}

/** What the environment of an engine is made from, beside its options. */
interface EngineLinks {
  readonly outside: OutsideWorld
  readonly ids: FollowedIds
  launch(rows: readonly JobRow[]): void
}

function partsOf(options: EngineOptions, links: EngineLinks): Parts {
  const { followed } = options
  const { outside, ids } = links
  const parts = wire(
    {
      store: options.store,
      clock: logClock(followed),
      ids,
      tools: options.tools,
      limits: options.limits,
      remotes: { ...closedRemotes, sharesBudget: (at) => !followed.isOpen && sharesAhead(followed, at) },
      sources: Object.fromEntries(options.sources.map((name) => [name, closedSource])),
      models: Object.fromEntries([...options.models].map(([name, id]) => [name, otherModel(id, outside)])),
      prices: null,
      retry: { tries: 1 },
      report: () => {},
    },
    (env) => following(env, { ...links, options, registry: () => parts.registry }),
  )
  return parts
}

const closedRemotes: NonNullable<RuntimeOptions['remotes']> = {
  call: () => Promise.reject(new Error('a replay calls no other server')),
  abandon: () => {},
}

const closedSource = {
  kind: 'sqlite',
  run: () => Promise.resolve({ ok: false as const, reason: 'failed' as const }),
  prepare: () => Promise.resolve(null),
  check: () => Promise.resolve(null),
  close: () => Promise.resolve(),
} as unknown as NonNullable<RuntimeOptions['sources']>[string]

/** The environment of the engine: numbers, content, pinned revisions and tools follow the log. */
function following(
  env: Environment,
  of: EngineLinks & { readonly options: EngineOptions; registry(): Parts['registry'] },
): Environment {
  const { options, outside, launch, registry } = of
  const { followed, contents } = options
  const read = async ({ digest }: { readonly digest: string }) => contents.get(digest) ?? null
  return {
    ...env,
    follower: {
      recording: numberNext(followed),
      recorded: (entry) => takeEntry(followed, entry),
    },
    listings: loggedListings(followed),
    hooks: null,
    guards: new Guards(() => Promise.reject(new Error('a replay checks nothing'))),
    readContent: read,
    content: async (one) => {
      const bytes = await read(one)
      return bytes === null ? null : Buffer.from(bytes).toString('base64')
    },
    storeContent: async () => {},
    hasCapacity: () => true,
    launch,
    toolset: (caller) =>
      loggedTools(env.toolset(caller), outside, (tool, args) =>
        followed.isOpen ? null : refusalAhead(followed, { caller: caller.callId, tool, args }),
      ),
    pin(database, id) {
      const start = nextRunStart(followed)
      if (start === null || start.agent !== id) return null
      return { revision: start.revision, data: registry().revision<AgentData>(database, id, start.revision) }
    },
    revisionsBelow: () => nextRunStart(followed)?.revisions ?? {},
    traceparent: options.isTraced ? () => '' : null,
  }
}

/** What MCP servers offered, as the log has it. Behind the log an agent has what it had last. */
function loggedListings(followed: FollowedLog): Environment['listings'] {
  const listed = (servers: readonly OfferedServer[]): Listing => ({ servers, notices: [], failure: null })
  return {
    known({ agent }) {
      if (mcpUses(agent).length === 0) return undefined
      if (followed.isOpen) return null
      const next = nextIn(followed)
      // The start of a run that tells of ended tasks stands behind its message.
      const start = next?.type === 'start' && next.kind === 'agent' ? next.body : nextRunStart(followed)
      if (start?.agent !== agent.id || start.mcp === undefined) return null
      return listed(offered(start.mcp))
    },
    shown: () => listed([]),
    async list({ agent }) {
      const last = followed.entries.findLast(({ type, place }) => type === 'tools' && place.author === agent.id)
      return listed(last?.type === 'tools' ? offered(last.body.mcp) : [])
    },
  }
}

/** The servers of an entry. The tools that it leaves out are those of an earlier entry, which the fold knows. */
function offered(servers: readonly ListedServer[]): OfferedServer[] {
  return servers.map((one) => ({ ...one, tools: one.tools ?? [] }))
}

/** Gives the next entry of a job its number in the log. */
export function numberNext(followed: FollowedLog): (job: Pick<Job, 'identity' | 'writer'>) => void {
  return ({ identity, writer }) => {
    const number = numberOfNext(followed, identity)
    if (number !== null) writer.entries.numberFrom(number)
  }
}

/** Stores an append. An end of a job that the log does not have there was refused, since something had arrived meanwhile. */
function store(engine: Engine, { entries, fence, jobs = [] }: Append, process: LogProcess | null): AppendResult {
  const { followed } = engine
  const fresh = entries.filter(({ seq }) => seq === 0)
  const [first] = fresh
  if (first !== undefined && fence !== undefined && !followed.isOpen) {
    const next = nextIn(followed)
    const isNext =
      next === null || (next.job === first.job && next.appendNo === first.appendNo && !isBrought(followed, next))
    if (!isNext) return { ok: false, reason: 'moved', job: null }
  }
  // What others had stored by now is folded before it.
  if (fresh.length > 0 && process !== null && !followed.isOpen) foldOthers(engine, process, followed.came.length)
  for (const entry of fresh) takeEntry(followed, entry)
  const woken = followed.isOpen ? jobs.filter(({ kind }) => kind === 'create' || kind === 'wake') : []
  const rows = woken.map(({ id }) => ({ id })) as unknown as readonly JobRow[]
  return { ok: true, before: 0, lastSeq: followed.came.length, jobs: rows }
}

/** Folds what others had stored before the entry at this index, which this process proposes. Its own entries are folded already. */
function foldOthers(engine: Engine, process: LogProcess, index: number): void {
  const { order } = process.fold
  for (let next = order[process.at]; next !== undefined && next < index; next = order[process.at])
    if (engine.followed.written[next]?.fold === process.fold) process.at += 1
    else foldNext(engine, process)
}

/** The time of the log. Nothing in it becomes due: what ends by time ends where the log says so. */
function logClock(followed: FollowedLog): Clock {
  const { entries, came } = followed
  return {
    now: () => (followed.isOpen ? systemClock.now() : ((entries[came.length] ?? entries.at(-1))?.at ?? 0)),
    after: () => () => {},
  }
}
