/** What a run is given from outside: time, ids, models, tools and agents. The engine names no provider, edge or database. */
import type { AgentData } from '@witan/protocol'
import type { Ceilings } from '../budget/ceilings.ts'
import type { ConversationLog } from '../conversation/log.ts'
import type { Clock } from '../identity/clock.ts'
import type { Ids } from '../identity/ids.ts'
import type { LiveHub } from '../event/live.ts'
import type { Model } from '../model/model.ts'
import type { JobRow } from '../store/store.ts'
import type { Caller, Toolset } from '../tool/tool.ts'

/** The pinned revision of an agent. */
export interface PinnedAgent {
  readonly data: AgentData
  readonly revision: number
}

/** Handed in by the runtime. */
export interface Environment {
  readonly clock: Clock
  readonly ids: Ids
  /** Who owns the jobs of this process. */
  readonly owner: string
  readonly leaseMs: number
  /** An agent only lowers them. */
  readonly ceilings: Ceilings
  readonly hub: LiveHub
  /** The model of that name, or null; retries are its own. */
  model(name: string): Model | null
  /** All tools of an agent call, edges included. */
  toolset(caller: Caller): Toolset
  /** The current revision of an agent, disabled ones included, or null. */
  pin(database: string, id: string): PinnedAgent | null
  /** The current revisions of every agent below a root. */
  reach(database: string, root: string): Readonly<Record<string, number>>
  /** An agent in the revision that a run keeps; null where it was deleted or disabled meanwhile [E6]. */
  pinned(database: string, id: string, revisions: Readonly<Record<string, number>>): PinnedAgent | null
  /** The store's clock: what expires does so by it. */
  storeNow(): number
  /** Something that waits expires at this time of that clock: it is looked after then, at the latest a round of the worker later. */
  expireAt(at: number): void
  /** Whether one more task may begin in this process. Where not, it is left to whoever has room, and this process looks again when it has. */
  hasRoom(): boolean
  /** Starts work on jobs that were just made for this process. */
  launch(jobs: readonly JobRow[], log: ConversationLog): void
  /** Problems inside that no caller hears of. */
  report(error: unknown): void
}
