/** A runtime for a replay: models and tools wait for the log, ids and times are those of the log, and jobs go on when the log does. */
import type { AgentData } from '@witan/protocol'
import type { Entry } from '@witan/protocol/entries'
import { type Clock, systemClock } from '../identity/clock.ts'
import type { Environment, PacedJob } from '../job/environment.ts'
import type { Append, AppendResult, JobRow, Store } from '../store/store.ts'
import type { FunctionTool } from '../tool/define-tool.ts'
import { failed } from '../tool/outcome.ts'
import type { RuntimeOptions } from '../runtime/options.ts'
import { type Parts, wire } from '../runtime/wiring.ts'
import { idsOf, type ScriptIds } from './ids.ts'
import { attemptAhead, epochOf, isCutWhileAsking, isLostAhead, nextRunStart, refusalAhead } from './lookahead.ts'
import { type Pending, waitingModel, waitingTools } from './pending.ts'
import { isRecorded, nextIn, numberAhead, type Script, takeEntry, takeStored } from './script.ts'
import { beforeEnd, untilSeen, createTurns, isTurnOf, launch, moved, type Turns, turnOf } from './turns.ts'

/** A replay's runtime, and what drives it. A crash in the log ends the runtime; the next one begins with what is stored. */
export interface ReplayStage {
  readonly options: StageOptions
  parts: Parts
  /** Whether the runtime's process has died, and how many died before. */
  life: Life
  /** The process in which each job was last claimed. */
  readonly lives: Map<string, number>
  readonly script: Script
  readonly pending: Pending
  readonly turns: Turns
  readonly timers: ReplayTimers
  readonly ids: ScriptIds
  /** Problems that the engine reported. */
  readonly reports: unknown[]
}

/** One process of a replay. */
interface Life {
  readonly number: number
  isOver: boolean
}

/** What a stage is made from. */
interface StageOptions {
  readonly store: Store
  readonly script: Script
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

/** Creates the runtime of a replay. It starts nothing by itself. */
export function createReplayStage(options: StageOptions): ReplayStage {
  const { script } = options
  const pending: Pending = { replies: new Map(), tools: new Map(), isOver: false }
  const turns = createTurns(script, pending)
  const known = {
    options,
    script,
    pending,
    turns,
    timers: new ReplayTimers(script),
    ids: idsOf(script),
    reports: [],
    lives: new Map(),
  }
  turns.decides = (job) => known.ids.takeBack(job)
  const life = { number: 0, isOver: false }
  return { ...known, life, parts: partsOf(known, life) }
}

/** Ends the runtime like a crash: its work stops, and what was not stored is lost. Then the runtime with this number starts. */
export function restart(stage: ReplayStage, number: number): void {
  const { turns } = stage
  end(stage)
  turns.jobs.clear()
  turns.beginning.clear()
  turns.late = []
  turns.waiting = []
  turns.launches = []
  stage.timers.clear()
  stage.ids.takeBack()
  stage.life = { number, isOver: false }
  stage.parts = partsOf(stage, stage.life)
}

/** Ends the runtime: it stores nothing more, and no timer of its tools is left. */
export function end({ life, parts, pending, turns }: ReplayStage): void {
  life.isOver = true
  parts.expiry.close()
  parts.env.timeLimit.close()
  parts.tracker.close(new Error('The replay is over.'))
  for (const { busy } of turns.jobs.values()) for (const controller of busy.values()) controller.abort('over')
  for (const { finish } of pending.tools.values()) finish(failed('TOOL_FAILED', 'The replay is over.'))
  pending.replies.clear()
  pending.tools.clear()
}

type Known = Omit<ReplayStage, 'parts' | 'life'>

function partsOf(known: Known, life: ReplayStage['life']): Parts {
  const { options, script, pending, timers, ids, reports } = known
  const model = (name: string, id: string) =>
    [name, waitingModel(id, pending, (call) => !script.isOpen && isLostAhead(script, call))] as const
  const parts = wire(
    {
      store: followedStore(known, life),
      clock: timers,
      ids,
      tools: options.tools,
      limits: options.limits,
      sources: Object.fromEntries(options.sources.map((name) => [name, closedSource])),
      models: Object.fromEntries([...options.models].map(([name, id]) => model(name, id))),
      prices: null,
      retry: { tries: 1 },
      leaseMs,
      report: (error) => void reports.push(error),
    },
    (env) => following(env, { known, life, registry: () => parts.registry }),
  )
  return parts
}

/** Never resolves: the process that waits has died. */
function silence(): Promise<never> {
  return new Promise(() => {})
}

/** Longer than any conversation lasts, so that no worker takes over a job of a replay. */
export const leaseMs = 3_000_000_000_000

const closedSource = {
  kind: 'sqlite',
  run: () => Promise.resolve({ ok: false as const, reason: 'failed' as const }),
  prepare: () => Promise.resolve(null),
  check: () => Promise.resolve(null),
  close: () => Promise.resolve(),
} as unknown as NonNullable<RuntimeOptions['sources']>[string]

/** The environment of the engine: time, pinned revisions, tools and turns follow the log. */
function following(
  env: Environment,
  of: { readonly known: Known; readonly life: ReplayStage['life']; registry(): Parts['registry'] },
): Environment {
  const { known, life, registry } = of
  const { script, turns, pending, options } = known
  const begun = () => nextRunStart(script)
  let recorder: PacedJob['writer'] | null = null
  return {
    ...env,
    pace: {
      turn: (job) => (life.isOver ? silence() : turnOf(turns, job)),
      recording: ({ identity, writer }) => {
        recorder = writer
        const number = numberAhead(script, identity)
        if (number !== null) writer.entries.numberFrom(number)
      },
      recorded(entry) {
        if (life.isOver) return
        takeEntry(script, entry)
        const writer = recorder
        const next = nextIn(script)
        // What others record next is stored behind it.
        if (next?.job !== entry.job || next.epoch !== entry.epoch) queueMicrotask(() => void writer?.commit())
      },
    },
    hasCapacity: () => true,
    launch(jobs, log) {
      for (const job of jobs) {
        const status = job.kind === 'task' ? log.state.tasks.get(job.id)?.loggedStatus : 'running'
        const take = () => known.lives.set(job.id, life.number)
        if (!known.lives.has(job.id)) take()
        const begin = () =>
          void begins(known, job).then((isBegun) => {
            if (!isBegun) return turns.beginning.delete(job.id)
            take()
            // One that is at work here still goes on by itself, or begins once it has come to rest.
            if (log.watchers.has(job.id)) turns.beginning.delete(job.id)
            return env.launch([job], log)
          })
        launch(turns, job.id, { isNoted: status !== 'running', begin })
      }
    },
    toolset: (caller) =>
      waitingTools(env.toolset(caller), pending, {
        refusal: (tool, args) => (script.isOpen ? null : refusalAhead(script, { caller: caller.callId, tool, args })),
        isCutWhileAsking: (call) => !script.isOpen && isCutWhileAsking(script, { call, owner: caller.callId }),
      }),
    pin(database, id) {
      const start = begun()
      if (start === null || start.agent !== id) return null
      return { revision: start.revision, data: registry().revision<AgentData>(database, id, start.revision) }
    },
    revisionsBelow: () => begun()?.revisions ?? {},
    traceparent: options.isTraced ? () => '' : null,
  }
}

/** Whether the owner of a job records anything of it. */
async function begins({ options: { store }, script, turns }: Known, { database, id, epoch }: JobRow): Promise<boolean> {
  // Two requests woke it: the job was claimed for the other, and works.
  if (((await store.getJob(database, id))?.epoch ?? 0) > epoch) return false
  // A job that this runtime works on is released by an entry of the log.
  if (turns.jobs.get(id)?.identity.epoch === epoch) return true
  // Its owner was lost before it recorded anything: the next one begins by the log's own entry.
  return attemptAhead(script, id) === null || epochOf(script, id) <= epoch
}

/** The time of the log, and timers that only the replay fires. */
class ReplayTimers implements Clock {
  readonly #script: Script
  #timers: { readonly run: () => void; readonly isBackground: boolean }[] = []

  constructor(script: Script) {
    this.#script = script
  }

  now(): number {
    const { entries, at, isOpen } = this.#script
    if (isOpen) return systemClock.now()
    return (entries[at] ?? entries.at(-1))?.at ?? 0
  }

  after(_ms: number, run: () => void, { background = false }: { readonly background?: boolean } = {}): () => void {
    const timer = { run, isBackground: background }
    this.#timers.push(timer)
    return () => {
      this.#timers = this.#timers.filter((one) => one !== timer)
    }
  }

  /** Forgets all timers. */
  clear(): void {
    this.#timers = []
  }

  /** Fires the deadlines of runs. */
  fire(): void {
    const due = this.#timers.filter(({ isBackground }) => !isBackground)
    this.#timers = this.#timers.filter(({ isBackground }) => isBackground)
    for (const { run } of due) run()
  }
}

/**
 * The same store, but the log decides what becomes of the end of a job: an append with an end that the log does not have was refused,
 * since something had arrived meanwhile, and one that it has was stored. Entries that no job recorded are compared once they are stored.
 */
function followedStore(known: Known, life: ReplayStage['life']): Store {
  const {
    options: { store },
    script,
    turns,
    ids,
  } = known
  return {
    ...store,
    claimJobs: (claim) => (life.isOver ? silence() : store.claimJobs(claim)),
    async append(append) {
      if (life.isOver) return silence()
      const stored = await appendInTurn(store, turns, append)
      if (!stored.ok) ids.takeBack()
      else {
        for (const change of append.jobs ?? [])
          if (change.kind === 'create' && change.job === 'run' && change.owner !== null) turns.beginning.add(change.id)
        for (const entry of append.entries) takeStored(script, entry)
        if (append.fence !== undefined) {
          // With it this process learns what others have stored.
          await untilSeen(turns)
          await beforeEnd(turns, append.fence.job)
        }
      }
      return life.isOver ? silence() : stored
    },
  }
}

/** The first entry that the store decides on: an end of a job. What was recorded before is folded already. */
function endIn(script: Script, { entries, fence }: Append): Entry | undefined {
  return fence === undefined ? undefined : entries.find((entry) => !isRecorded(script, entry))
}

/** Whether an append ends a job where the log does not: then it is refused. */
function isRefused(turns: Turns, append: Append): boolean {
  const { script } = turns
  const { fence } = append
  const end = endIn(script, append)
  const next = nextIn(script)
  if (fence === undefined || end === undefined || next === null) return false
  return !isTurnOf(turns, { id: fence.job, epoch: fence.epoch }) || end.appendNo < next.appendNo
}

async function appendInTurn(store: Store, turns: Turns, append: Append): Promise<AppendResult> {
  const { script } = turns
  if (isRefused(turns, append)) {
    await moved(turns)
    return { ok: false, reason: 'moved', job: null }
  }
  // Awaited, so that appends are reported in the order in which they were stored.
  if (endIn(script, append) === undefined || nextIn(script) === null) return await store.append(append)
  const { ifLastSeq: _, ...always } = append
  const stored = await store.append(always)
  // The refusal has cleared what woke the job; the log says that this was seen.
  return stored.ok || stored.reason !== 'woken' ? stored : store.append(always)
}
