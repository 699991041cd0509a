/** The warm fold of one conversation: the only way the engine appends to it, and where what others append arrives. */
import type { Entry } from '@witan/protocol/entries'
import type { Append, AppendResult } from '../store/store.ts'
import { type LogContext, LogSync } from './log-sync.ts'
import type { ConversationState } from './state.ts'

/** Who is told: entries of others were folded; or the fold is of no use any more, and whoever works on it must stop. */
export interface LogWatcher {
  changed(): void
  broken(reason: unknown): void
}

/**
 * One warm conversation. Entries of the jobs at work here are folded as they are recorded; everything else once it is stored, also
 * what other processes store: it is read as soon as an append of ours, or a notice, shows that it is there.
 */
export class ConversationLog {
  readonly state: ConversationState
  /** The jobs that are at work on it, by their ids. */
  readonly watchers = new Map<string, LogWatcher>()
  /** True once the fold is of no use: whoever wants the conversation must read it again. */
  isBroken = false
  readonly #sync: LogSync
  readonly #proposals: Promise<AppendResult>[] = []

  constructor(state: ConversationState, context: LogContext) {
    this.state = state
    const isBroken = () => this.isBroken
    const spoil = (reason: unknown) => this.spoil(reason)
    this.#sync = new LogSync({ ...context, state, isBroken, spoil, folded: () => tell(this) })
  }

  /** Folds an entry that is a job's own, before it is stored. */
  take(entry: Entry): void {
    this.#sync.take(entry)
  }

  /** Stores what was taken before. A refusal is told to the caller; the state is then of no use any more. */
  write(append: Append): Promise<AppendResult> {
    return this.#sync.append(append, [])
  }

  /** Stores first and then folds `fresh`, the entries of the append that were not taken before: for everything that may be refused. */
  propose(append: Append, fresh: readonly Entry[] = append.entries): Promise<AppendResult> {
    const over = () => void this.#proposals.splice(this.#proposals.indexOf(proposal), 1)
    const proposal = this.#sync.append(append, fresh).finally(over)
    this.#proposals.push(proposal)
    return proposal.then((result) => {
      if (result.ok) tell(this)
      return result
    })
  }

  /** Null where nothing that was proposed is on its way: what is appended in this very turn then comes before whatever others propose next. */
  quiet(): Promise<unknown> | null {
    return this.#proposals.length === 0 ? null : Promise.allSettled(this.#proposals)
  }

  /** Folds what others have stored meanwhile. */
  catchUp(): Promise<void> {
    return this.#sync.catchUp()
  }

  /** Nothing that was folded here can be trusted any more: everybody at work on it stops. */
  spoil(reason: unknown): void {
    if (this.isBroken) return
    this.isBroken = true
    for (const watcher of [...this.watchers.values()]) watcher.broken(reason)
  }
}

function tell({ watchers }: ConversationLog): void {
  for (const watcher of watchers.values()) watcher.changed()
}
