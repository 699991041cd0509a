/** A runtime for a replay: models and tools wait for the log, ids and times are those of the log, and jobs go on when the log does. */
import type { AgentData } from '@witan/protocol'
import type { Clock } from '../../identity/clock.ts'
import type { Environment } from '../../job/environment.ts'
import type { Store } from '../../store/store.ts'
import type { FunctionTool } from '../../tool/define.ts'
import type { RuntimeOptions } from '../options.ts'
import { type Parts, wire } from '../wiring.ts'
import { idsOf, type ScriptIds } from './ids.ts'
import { isLostAhead, nextRunStart, refusalAhead } from './lookahead.ts'
import { type Pending, waitingModel, waitingTools } from './pending.ts'
import { isRecorded, type Script, takeEntry } from './script.ts'
import { aware, createTurns, due, launch, noteNumber, type Turns, turnOf, wake } from './turns.ts'

/** A replay's runtime, and what drives it. */
export interface ReplayStage {
  readonly parts: Parts
  readonly script: Script
  readonly pending: Pending
  readonly turns: Turns
  readonly timers: ReplayTimers
  /** Problems that the engine reported. */
  readonly reports: readonly unknown[]
}

/** What a stage is made from. */
export interface StageOptions {
  readonly store: Store
  readonly script: Script
  readonly tools: readonly FunctionTool[]
  readonly sources: readonly string[]
  /** The ids of the models by the name that agents use. */
  readonly models: ReadonlyMap<string, string>
  readonly limits: NonNullable<RuntimeOptions['limits']>
  /** Whether messages keep the header of their request. */
  readonly isTraced: boolean
}

/** Creates the runtime of a replay. It starts nothing by itself. */
export function createReplayStage(options: StageOptions): ReplayStage {
  const { script, store, tools, limits } = options
  const pending: Pending = { replies: new Map(), tools: new Map() }
  const turns = createTurns(script, pending)
  script.onMove = () => wake(turns)
  const ids = idsOf(script)
  const timers = new ReplayTimers(script)
  const reports: unknown[] = []
  const parts = wire(
    {
      store: followedStore(store, turns, ids),
      clock: timers,
      ids,
      tools,
      limits,
      sources: Object.fromEntries(options.sources.map((name) => [name, closedSource])),
      models: Object.fromEntries(
        [...options.models].map(([name, id]) => [name, waitingModel(id, pending, (call) => isLostAhead(script, call))]),
      ),
      prices: null,
      retry: { tries: 1 },
      report: (error) => reports.push(error),
    },
    (env) => following(env, { script, turns, pending, isTraced: options.isTraced, registry: () => parts.registry }),
  )
  return { parts, script, pending, turns, timers, reports }
}

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
  {
    script,
    turns,
    pending,
    isTraced,
    registry,
  }: Pick<StageOptions, 'script' | 'isTraced'> & {
    readonly turns: Turns
    readonly pending: Pending
    registry(): Parts['registry']
  },
): Environment {
  const begun = () => nextRunStart(script)
  return {
    ...env,
    pace: {
      turn: (job) => turnOf(turns, job),
      recorded(entry) {
        noteNumber(turns, entry)
        takeEntry(script, entry)
      },
    },
    hasCapacity: () => true,
    launch(jobs, log) {
      for (const job of jobs) {
        const told = job.kind === 'task' ? log.state.tasks.get(job.id)?.told : 'running'
        launch(turns, told === 'running' ? null : job.id, () => env.launch([job], log))
      }
    },
    toolset: (caller) =>
      waitingTools(env.toolset(caller), pending, (tool, args) =>
        refusalAhead(script, { caller: caller.callId, tool, args }),
      ),
    pin(database, id) {
      const start = begun()
      if (start === null || start.agent !== id) return null
      return { revision: start.revision, data: registry().revision<AgentData>(database, id, start.revision) }
    },
    revisionsBelow: () => begun()?.revisions ?? {},
    traceparent: isTraced ? () => '' : null,
  }
}

/** The time of the log, and timers that only the replay fires. */
export class ReplayTimers implements Clock {
  readonly #script: Script
  #timers: { readonly run: () => void; readonly isBackground: boolean }[] = []

  constructor(script: Script) {
    this.#script = script
  }

  now(): number {
    const { entries, at } = this.#script
    return (entries[at] ?? entries.at(-1))?.at ?? 0
  }

  after(_ms: number, run: () => void, { background = false }: { readonly background?: boolean } = {}): () => void {
    const timer = { run, isBackground: background }
    this.#timers.push(timer)
    return () => {
      this.#timers = this.#timers.filter((one) => one !== timer)
    }
  }

  /** Fires the deadlines of runs. */
  fire(): void {
    const due = this.#timers.filter(({ isBackground }) => !isBackground)
    this.#timers = this.#timers.filter(({ isBackground }) => isBackground)
    for (const { run } of due) run()
  }
}

/** The same store. An append waits for its turn; entries that no job recorded are compared once they are stored. */
function followedStore(store: Store, turns: Turns, ids: ScriptIds): Store {
  const { script, woken } = turns
  return {
    ...store,
    async append(append) {
      const job = append.fence?.job
      if (job !== undefined && append.entries.some((entry) => !isRecorded(script, entry))) await due(turns, job)
      for (const entry of append.entries) noteNumber(turns, entry)
      const stored = await store.append(append)
      const changed = stored.ok ? stored.jobs : stored.job === null ? [] : [stored.job]
      for (const { id, wake: isWoken } of changed) woken.set(id, isWoken)
      if (!stored.ok && stored.reason === 'woken') woken.set(job ?? '', false)
      if (stored.ok) for (const entry of append.entries) takeEntry(script, entry)
      else ids.takeBack()
      const cancelled = append.entries.find(({ type }) => type === 'cancel')
      if (cancelled !== undefined) await aware(turns, cancelled.job)
      return stored
    },
  }
}
