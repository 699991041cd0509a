/** The warm fold of one conversation. The engine appends only through it, and it folds what other writers append. */
import type { Entry, Writable } from '@witan/protocol/entries'
import type { Append, AppendResult } from '../store/store.ts'
import { type AgentLookup, fold, foldedUpTo } from './fold.ts'
import { isTurnSpent, nextTurn } from '../identity/turn.ts'
import { Frontier } from './frontier.ts'
import type { ConversationState } from './state.ts'
import { Proposals } from './proposals.ts'
import { KnownHistory, type LogHistory } from './known-history.ts'
import { type Recorded, Batches, type BatchWriter } from './batches.ts'

/** What the logs of a database need. */
export interface LogContext {
  append(append: Append): Promise<AppendResult>
  /** Called with entries stored by this process, before the append resolves. */
  stored(channel: string, entries: readonly Entry[]): void
  /** Stored entries of a conversation after a seq, in order. Loads every revision that they name. */
  read(conversation: string, after: number): Promise<readonly Entry[]>
  readonly history: LogHistory
  readonly agents: AgentLookup
}

/** A job that runs on a log: `changed` is called when entries were folded, `broken` when the fold is invalid and the job must stop. */
export interface LogWatcher {
  /** The epoch in which it was claimed. */
  readonly epoch: number
  changed(): void
  broken(reason: unknown): void
}

/** An append that may be refused. `fresh` are those of its entries that are not folded yet; all without it. */
export interface Proposal {
  readonly append: Append
  readonly fresh?: readonly Entry[]
}

/**
 * One warm conversation. Entries of jobs that run here are folded when they are recorded, and stored in that order, whatever job they
 * belong to [O1]. A proposal may be refused: it is folded once it is stored, behind all that was recorded before it, and nothing is
 * recorded until then [O2]. Entries of other processes are read as soon as an own append, or a notice, shows that they exist [O3].
 */
export class ConversationLog {
  readonly state: ConversationState
  /** The watchers of jobs that run on it, by job id. */
  readonly watchers = new Map<string, LogWatcher>()
  /** True once the fold is invalid; the conversation must then be loaded again. */
  isBroken = false
  /** What was recorded and is not on its way to the store. */
  readonly batches: Batches
  readonly proposals = new Proposals()
  readonly sync: LogSync

  /** `isLoaded`: others wrote to the conversation before. */
  constructor(state: ConversationState, context: LogContext, isLoaded = false) {
    this.state = state
    this.batches = new Batches(isLoaded)
    this.sync = new LogSync(this, context)
  }

  /** Folds an entry of an own job, which is stored with the next `flush`. Throws while a proposal is under way. */
  record(writer: BatchWriter, entry: Entry): void {
    if (this.proposals.pending !== null) throw new Error('An entry was recorded while a proposal was under way.')
    this.batches.view.mark(entry, writer)
    this.sync.apply(entry)
    this.batches.of(writer).entries.push(entry)
  }

  /** Has everything stored that was recorded up to now. Each writer learns what became of its own. */
  flush(): void {
    if (!this.isBroken) this.batches.store()
  }

  /**
   * Decides on a proposal once none is under way, stores it behind all that was recorded, and folds it once it is stored. `make` gets the
   * writer's own last batch, to store it with the proposal; after a refusal the writer has it again.
   */
  async propose(make: (tail: Recorded | null) => Proposal, writer: BatchWriter | null = null): Promise<AppendResult> {
    const { proposals, batches } = this
    for (let other = proposals.pending; other !== null; other = proposals.pending) await other
    proposals.begin()
    const tail = writer === null ? null : batches.takeTail(writer)
    let isStored = false
    let takeBack: (() => void) | null = null
    try {
      this.flush()
      const { append, fresh = append.entries } = make(tail)
      takeBack = batches.view.propose(fresh, writer, append.fence?.job)
      const result = await this.sync.append(append, fresh)
      isStored = result.ok
      if (isStored) notify(this)
      return result
    } finally {
      if (!isStored) takeBack?.()
      if (!isStored && writer !== null && tail !== null) batches.putBack(writer, tail)
      proposals.end()
    }
  }

  /** Folds what other processes have stored. Only with `alone`, if nobody else has this log, it pauses: else entries would be out of order. */
  catchUp(alone = false): Promise<void> {
    return this.sync.catchUp(alone)
  }

  /** Marks the fold as invalid and stops all jobs that run on it. */
  invalidate(reason: unknown): void {
    if (this.isBroken) return
    this.isBroken = true
    for (const watcher of [...this.watchers.values()]) watcher.broken(reason)
  }
}

function notify({ watchers }: ConversationLog): void {
  for (const watcher of watchers.values()) watcher.changed()
}

/** A pending append. `unfolded` are its entries that are folded only once they are stored. */
interface UnderWay {
  readonly entries: readonly Entry[]
  unfolded: readonly Entry[]
}

/** Keeps one warm conversation in step with the store. The store settles appends in the order they were made. */
class LogSync {
  readonly #of: { readonly log: ConversationLog; readonly context: LogContext }
  /** Pending appends in order. There is nearly always one, so an array is cheaper than a set. */
  readonly #underWay: UnderWay[] = []
  readonly #frontier: Frontier
  readonly known: KnownHistory
  #reading: Promise<void> | null = null

  constructor(log: ConversationLog, context: LogContext) {
    this.#of = { log, context }
    this.#frontier = new Frontier(log.state.seq)
    this.known = new KnownHistory(log, context.history)
  }

  /** Folds an entry. */
  apply(entry: Entry): void {
    fold(this.#of.log.state, entry, this.#of.context.agents)
  }

  /** The seq behind which a proposal goes that is decided on now, if no other process has stored anything unseen. */
  get expectedSeq(): number {
    return this.#underWay.reduce((sum, { entries }) => sum + entries.length, this.#frontier.last)
  }

  /** Stores an append and then folds `fresh`, its entries not folded before. Resolves when all earlier entries are folded too. */
  async append(append: Append, fresh: readonly Entry[]): Promise<AppendResult> {
    const { log } = this.#of
    const underWay: UnderWay = { entries: append.entries, unfolded: fresh }
    this.#underWay.push(underWay)
    const since = this.known.now
    ;(append as Writable<Append>).follows = this.known.follows
    try {
      const result = await this.#of.context.append(append)
      if (result.ok) {
        this.#of.context.stored(log.state.channel, append.entries)
        this.#frontier.markAppended(result)
        this.known.know(append.entries.at(-1), since)
      } else if (result.reason === 'went-back') throw this.known.wentBack()
      if (log.isBroken) return result
      if (this.#frontier.hasNoGaps) foldedUpTo(log.state, this.#frontier.after)
      else await this.#fill()
      if (log.isBroken) return result
      if (result.ok) for (const entry of underWay.unfolded) this.apply(entry)
      return result
    } catch (error) {
      log.invalidate(error)
      throw error
    } finally {
      drop(underWay, this.#underWay)
    }
  }

  /** Folds what other processes have stored up to now. */
  async catchUp(alone = false): Promise<void> {
    await this.#reading
    this.#reading ??= this.#read(this.#frontier.after, alone).finally(() => {
      this.#reading = null
    })
    await this.#reading
  }

  async #fill(): Promise<void> {
    while (!this.#frontier.hasNoGaps && !this.#of.log.isBroken) {
      const { after } = this.#frontier
      await this.catchUp()
      if (!this.#of.log.isBroken && !this.#frontier.hasNoGaps && this.#frontier.after === after)
        throw new Error(`entries behind ${after} of the log are not there`)
    }
  }

  async #read(after: number, alone: boolean): Promise<void> {
    const { log, context } = this.#of
    const entries = await this.known.readSame(() => context.read(log.state.id, after))
    if (entries === null) return
    let foreign = 0
    const fresh = entries.filter((entry) => {
      const isOwn = isUnfolded(entry, this.#underWay)
      if (isOwn !== null) return isOwn
      const isNew = this.#frontier.isNew(entry)
      if (isNew) foreign = entry.seq
      return isNew
    })
    const overtaken = fresh.map((entry) => overtakenBy(entry, this.#of.log)).find((watcher) => watcher !== null)
    // What that job recorded here will be refused. No other job may decide on a fold that has it.
    if (overtaken !== undefined) return overtaken.broken('fenced')
    for (const entry of fresh) {
      if (alone && isTurnSpent()) await nextTurn()
      this.apply(entry)
    }
    if (foreign > 0) this.#of.log.batches.view.read(foreign)
    this.#frontier.markRead(after, entries.at(-1)?.seq ?? after)
    foldedUpTo(this.#of.log.state, this.#frontier.after)
    if (fresh.length > 0) notify(this.#of.log)
  }
}

/** The job at work here that an entry shows to have a later owner; null if there is none. */
function overtakenBy({ job, epoch }: Entry, { watchers }: ConversationLog): LogWatcher | null {
  const watcher = watchers.get(job)
  return watcher !== undefined && epoch > watcher.epoch ? watcher : null
}

function drop<One>(one: One, from: One[]): void {
  const at = from.indexOf(one)
  if (at >= 0 && at === from.length - 1) from.pop()
  else if (at >= 0) from.splice(at, 1)
}

/**
 * Whether an entry of a pending append is still to be folded. If so, it is folded now, in its place among the entries of others, and
 * is removed from `unfolded`. Null for an entry of another writer.
 */
function isUnfolded(entry: Entry, underWay: Iterable<UnderWay>): boolean | null {
  const isSame = (one: Entry) => one.job === entry.job && one.appendNo === entry.appendNo
  for (const one of underWay) {
    if (!one.entries.some(isSame)) continue
    const left = one.unfolded.filter((each) => !isSame(each))
    const wasLeft = left.length < one.unfolded.length
    one.unfolded = left
    return wasLeft
  }
  return null
}
