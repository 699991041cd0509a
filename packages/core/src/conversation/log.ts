/** The warm fold of one conversation: the only way the engine appends to it, and where what others append arrives. */
import type { Entry } from '@witan/protocol/entries'
import type { Append, AppendResult } from '../store/store.ts'
import { type AgentLookup, fold } from './fold.ts'
import { tightened } from './given.ts'
import type { ConversationState } from './state.ts'

/** Stores an append and tells the readers of the conversation. */
export type Appender = (append: Append) => Promise<AppendResult>

/** Who is told: entries of others were folded; or an append broke, so that nobody knows what is stored and this fold is of no use any more. */
export interface LogWatcher {
  changed(): void
  broken(reason: unknown): void
}

/** One warm conversation. Entries of its own job are folded as they are recorded; everything else once it is stored. */
export class ConversationLog {
  readonly state: ConversationState
  readonly #append: Appender
  readonly #agents: AgentLookup
  readonly #underWay = new Set<Promise<AppendResult>>()
  /** The job that is at work on it, if any. */
  watcher: LogWatcher | null = null
  /** True once an append broke: whoever wants the conversation must read it again. */
  isBroken = false

  constructor(state: ConversationState, append: Appender, agents: AgentLookup) {
    this.state = state
    this.#append = async (member) => {
      try {
        return await append(member)
      } catch (error) {
        this.isBroken = true
        this.watcher?.broken(error)
        throw error
      }
    }
    this.#agents = agents
  }

  /** Folds entries that are the job's own, before they are stored. */
  take(entries: readonly Entry[]): void {
    for (const entry of entries) fold(this.state, entry, this.#agents)
  }

  /** Stores what was taken before. A refusal is told to the caller; the state is then of no use any more. */
  async write(append: Append): Promise<AppendResult> {
    const result = await this.#append(append)
    if (result.ok && result.lastSeq > this.state.seq) this.state.seq = result.lastSeq
    return result
  }

  /** Stores first and then folds `fresh`, the entries of the append that were not taken before: for everything that may be refused. */
  async propose(append: Append, fresh: readonly Entry[] = append.entries): Promise<AppendResult> {
    const proposal = this.#append(append).then((result) => {
      if (!result.ok) return result
      if (append.hide !== undefined) this.state.stored = tightened(this.state.stored, append.hide, result.before)
      this.take(fresh)
      if (result.lastSeq > this.state.seq) this.state.seq = result.lastSeq
      this.watcher?.changed()
      return result
    })
    this.#underWay.add(proposal)
    return proposal.finally(() => this.#underWay.delete(proposal))
  }

  /** Null where nothing that was proposed is on its way: what is appended in this very turn then comes before whatever others propose next. */
  quiet(): Promise<unknown> | null {
    return this.#underWay.size === 0 ? null : Promise.allSettled(this.#underWay)
  }
}
