/** What the models of a conversation were asked: the log is folded to the moment of each model call, and the code that asks models makes its request. */
import type { Entry } from '@witan/protocol/entries'
import { findingFolds, type Fold, type FoldPlace, type ModelEntry } from '../../conversation/folds.ts'
import { emptyState, fold } from '../../conversation/fold.ts'
import { type AgentCall, type ConversationState, liveJob, type LiveJob } from '../../conversation/state.ts'
import { storedOf } from '../../conversation/stored-values.ts'
import { readUpTo } from '../../conversation/inbox.ts'
import { prepareView } from '../../conversation/view-ahead.ts'
import { runWithPauses } from '../../identity/pausable.ts'
import { isTurnSpent, mapInTurns, nextTurn } from '../../identity/turn.ts'
import type { ModelRequest } from '../../model/model.ts'
import type { CallTools } from '../../job/job.ts'
import type { Asking } from '../../run/caller.ts'
import { mayThink } from '../../run/decide.ts'
import { modelRequest, purposeOf, type RequestPurpose } from '../../run/model-request.ts'
import { firstAttempt } from '../../run/prepare-model-call.ts'
import { requestDigest } from '../../run/request-digest.ts'
import type { LoadedLog } from './loaded-log.ts'

/** A request as it was made, and the digest that it has now. */
interface MadeRequest {
  readonly request: ModelRequest
  readonly digest: string
  readonly readUpTo: number
  readonly attempt: number
}

/** A model call of the log. */
export interface Asked {
  /** The entry that ended it; null while it works. */
  readonly entry: ModelEntry | null
  /** The agent's call as the fold has it; null if no fold has it there, as in a log that was changed by hand. */
  readonly call: AgentCall | null
  /** Null for a call that no agent's answer came of. */
  readonly made: MadeRequest | null
}

/** Watches a fold as it goes forward. */
interface Watcher {
  /** Called before and after each entry is folded. */
  before(state: ConversationState, entry: Entry): void
  after(state: ConversationState, entry: Entry): void
  /** Called with each request before anything that came later is folded. */
  asked(call: AgentCall, entry: ModelEntry | null): void
}

/** One process that wrote to the log, as far as it is folded again. */
interface Process {
  readonly fold: Fold
  readonly state: ConversationState
  /** How many entries of its fold are folded. */
  at: number
  /** Up to where its requests are made. */
  asked: number
  /** The tools of the calls of each job, in each of its epochs: another owner makes them anew. */
  readonly tools: Map<string, Map<AgentCall, CallTools>>
}

/** Whether an entry ends a model call that was made. */
export function endsModelCall(entry: Entry): entry is ModelEntry {
  return entry.kind === 'model' && (entry.type === 'end' || entry.body.spent)
}

/** Folds a log forward, once, however many of its model calls are looked at. */
class AskedModels {
  readonly #log: LoadedLog
  readonly #written: readonly FoldPlace[]
  readonly #processes = new Map<Fold, Process>()
  /** What was asked and is not given out yet, by the seq of its end. */
  readonly #asked = new Map<number, Asked>()
  readonly #watcher: Watcher | null

  constructor(log: LoadedLog, written: readonly FoldPlace[], watcher: Watcher | null) {
    this.#log = log
    this.#watcher = watcher
    this.#written = written
  }

  /** The model call that this entry of the log ended. Those of one log must be asked for in its order. */
  async ended(index: number): Promise<Asked> {
    const entry = this.#log.entries[index] as ModelEntry
    const { fold: of, place } = this.#written[index] as FoldPlace
    const process = this.#processOf(of)
    await this.#advance(process, place)
    const known = this.#asked.get(entry.seq)
    this.#asked.delete(entry.seq)
    return known ?? { entry, call: callOf(process.state, entry), made: null }
  }

  /** The model calls that are under way at the end of the log. */
  async *underWay(): AsyncGenerator<Asked, void, void> {
    const last = this.#written.at(-1)
    if (last === undefined) return
    const process = this.#processOf(last.fold)
    await this.#advance(process, process.fold.order.length)
    const seen = new Set(process.fold.order)
    for (const [index, entry] of this.#log.entries.entries()) if (!seen.has(index)) await this.#fold(process, entry)
    const { state } = process
    for (const job of [...(state.run === null ? [] : [state.run]), ...state.tasks.values()]) {
      if (job.cancelled) continue
      for (const call of job.calls.values()) {
        if (call.remote !== null || !mayThink(call, nobody)) continue
        const purpose = purposeOf(call)
        const terms = { purpose, offered: true, epoch: job.worked.epoch }
        yield { entry: null, call, made: await makeRequest(this.#log, process, { call, job, ...terms }) }
        this.#watcher?.asked(call, null)
      }
    }
  }

  #processOf(of: Fold): Process {
    const process = this.#processes.get(of) ?? begun(of, this.#log)
    this.#processes.set(of, process)
    return process
  }

  /** Folds everything before this place of the fold, and makes each request on the way. */
  async #advance(process: Process, place: number): Promise<void> {
    const { requests, order } = process.fold
    for (;;) {
      if (process.asked < process.at) for (const one of requests.get(process.at) ?? []) await this.#ask(process, one)
      process.asked = process.at
      if (process.at >= place) return
      await this.#fold(process, this.#log.entries[order[process.at] as number] as Entry)
      process.at += 1
    }
  }

  async #fold({ state }: Process, entry: Entry): Promise<void> {
    if (isTurnSpent()) await nextTurn()
    this.#watcher?.before(state, entry)
    fold(state, entry, this.#log.agents)
    this.#watcher?.after(state, entry)
  }

  async #ask(process: Process, entry: ModelEntry): Promise<void> {
    const { state } = process
    const job = liveJob(state, entry.job)
    const call = callOf(state, entry)
    const { purpose } = entry.body
    const isAnswer = purpose !== 'summary' && purpose !== 'progress'
    const terms = { purpose: isAnswer ? (purpose ?? null) : null, offered: isOffered(entry), epoch: entry.epoch }
    const isComputed = job !== null && call !== null && isAnswer
    if (isAnswer && call !== null) this.#watcher?.asked(call, entry)
    const made = isComputed ? await makeRequest(this.#log, process, { call, job, ...terms }) : null
    this.#asked.set(entry.seq, { entry, call, made })
  }
}

/** The model calls of a log. Finds which process folded what, and folds nothing yet. */
export async function askedModels(log: LoadedLog, watcher: Watcher | null = null): Promise<AskedModels> {
  const { entries } = log
  const written = (await runWithPauses(findingFolds(entries, 0))) ?? (await asOneFold(entries))
  return new AskedModels(log, written, watcher)
}

/** What a request is made of beside the fold. */
interface Terms {
  readonly call: AgentCall
  readonly job: LiveJob
  readonly purpose: RequestPurpose
  readonly offered: boolean
  /** Of the owner that made it. */
  readonly epoch: number
}

async function makeRequest(log: LoadedLog, process: Process, of: Terms): Promise<MadeRequest> {
  const { call, job, epoch, purpose, offered } = of
  const key = `${call.job}/${epoch}`
  const tools = process.tools.get(key) ?? new Map<AgentCall, CallTools>()
  process.tools.set(key, tools)
  const asking: Asking = { env: log.env, run: job, log: process, cache: { tools } }
  const ahead = prepareView(call)
  const forget = ahead === null ? null : await ahead
  const { request } = modelRequest(call, asking, { offered, purpose })
  forget?.()
  const attempt = firstAttempt({ identity: { epoch } }) + call.iterations
  return { request, digest: requestDigest(call.agent, request), readUpTo: readUpTo(call), attempt }
}

/** A process that has folded nothing yet. */
function begun(of: Fold, { row }: LoadedLog): Process {
  const { database, id, agent, parameters, maxModelIterationsPerCall } = row
  const stored = storedOf(parameters)
  const state = emptyState({ database, id, rootAgent: agent, stored, maxModelIterationsPerCall })
  return { fold: of, state, at: 0, asked: -1, tools: new Map() }
}

const nobody: ReadonlyMap<string, unknown> = new Map()

function callOf(state: ConversationState, { job, place }: Pick<Entry, 'job' | 'place'>): AgentCall | null {
  return liveJob(state, job)?.calls.get(place.call) ?? null
}

/** Whether its tools were on. A reply that called tools although they were off says of those that they were not offered. */
function isOffered({ type, body }: ModelEntry): boolean {
  if (type === 'error') return body.offered !== false
  return body.offered || body.finishReason !== 'iteration_limit'
}

/** As if one process had written the log: of a log that too many did. */
async function asOneFold(entries: readonly Entry[]): Promise<readonly FoldPlace[]> {
  const alone = await mapInTurns(entries, ({ view: _, ...entry }) => entry as Entry)
  return (await runWithPauses(findingFolds(alone, 0))) ?? []
}
