/** What a store reports of other processes: appends, deletions, due jobs, and what they send. */
import type { WitanError } from '@witan/protocol'

/** A conversation that is read in this process. */
export interface WatchedConversation {
  readonly database: string
  readonly conversation: string
  /** The last seq that its readers have got; null if not known yet. */
  readonly lastSeq: number | null
}

/**
 * The notifications from other processes on the same store. A notification may come twice, late or never; code that must not miss one
 * also polls. The exception are conversations in `watched`: an append or a deletion by another process is reported within two
 * seconds, as long as the store can be read.
 */
export interface StoreListener {
  /** The log has entries up to `lastSeq`. */
  appended(at: { readonly database: string; readonly conversation: string; readonly lastSeq: number }): void
  /** A job can be claimed. */
  due(): void
  /** The conversation was deleted. */
  gone(at: { readonly database: string; readonly conversation: string }): void
  /** `Store.history` has grown. */
  historyChanged(): void
  /** A text that another process sent with `notify`. Only a process that can read the store can send one; it may run another version. */
  received(at: { readonly database: string; readonly conversation: string }, text: string): void
  /** The conversations that are read in this process. The store calls this about once a second, if another process can open it. */
  watched(): Iterable<WatchedConversation>
  /** Called at each change: null if notifications of other processes arrive, else why not. Conversations in `watched` are reported either way. */
  listening(problem: WitanError | null): void
  /** `count` notifications were ignored: they were not sealed with the store's key, or were repeats. Called at most once a minute. */
  ignored(count: number): void
}
