/** What the runtime provides to the engine: time, ids, models, tools and agents. The engine names no provider, edge or database. */
import type { AgentData } from '@witan/protocol'
import type { CallPlace, EmbeddingUse, Entry, NoticeBody, QuotedPassage } from '@witan/protocol/entries'
import type { Ceilings } from '../budget/ceilings.ts'
import type { ConversationLog } from '../conversation/log.ts'
import type { Clock } from '../identity/clock.ts'
import type { Ids } from '../identity/ids.ts'
import type { Guards } from '../guard/checks.ts'
import type { HookRows } from '../hook/rows.ts'
import type { LiveHub } from '../event/live.ts'
import type { LookedUp } from '../memory/look-up.ts'
import type { Model } from '../model/model.ts'
import type { TimeLimit } from '../model/time-limit.ts'
import type { JobRow } from '../store/store.ts'
import type { Listings } from '../tool/mcp/offered.ts'
import type { AbandonedCall } from '../tool/remote.ts'
import type { Caller, Toolset } from '../tool/tool.ts'

/** The pinned revision of an agent. */
export interface PinnedAgent {
  readonly data: AgentData
  readonly revision: number
}

/** Provided by the runtime. */
export interface Environment {
  readonly clock: Clock
  readonly ids: Ids
  /** The owner name of this process in the jobs it claims. */
  readonly owner: string
  readonly leaseMs: number
  /** Upper limits; an agent can only lower them. */
  readonly ceilings: Ceilings
  readonly hub: LiveHub
  /** The model of that name, or null. The model does its own retries. */
  model(name: string): Model | null
  /** How long a model call may take. */
  readonly timeLimit: TimeLimit
  /** Content that a conversation refers to, as base64; null if it is gone. */
  content(of: {
    readonly database: string
    readonly conversation: string
    readonly digest: string
  }): Promise<string | null>
  /** Stores content under its digest, before an entry refers to it. */
  storeContent(database: string, digest: string, bytes: Uint8Array): Promise<void>
  /** Content that a conversation refers to; null if it is gone. */
  readContent(of: {
    readonly database: string
    readonly conversation: string
    readonly digest: string
  }): Promise<Uint8Array | null>
  /** All tools of an agent call, edges included. */
  toolset(caller: Caller): Toolset
  /** Lines of an agent's system message that come from no tool. */
  guidance(caller: Caller): readonly string[]
  /** The hooks of this process; null in a replay, which follows what they decided. */
  readonly hooks: HookRows | null
  /** The guardrails of its agents. */
  readonly guards: Guards
  /** The current revision of an agent, disabled ones included, or null. */
  pin(database: string, id: string): PinnedAgent | null
  /** The current revisions of every agent below a root. */
  revisionsBelow(database: string, root: string): Readonly<Record<string, number>>
  /** An agent in the revision that the run pinned; null if it was deleted or disabled meanwhile [E6]. */
  pinned(database: string, id: string, revisions: Readonly<Record<string, number>>): PinnedAgent | null
  /** What the MCP servers of agents offer. */
  readonly listings: Listings
  /** What an agent remembers, as its model is to read it with the message that begins its work. */
  remember(caller: Caller, query: string, signal: AbortSignal): Promise<LookedUp>
  /** What the knowledge bases of an agent that are searched by themselves have on a message. Rejects only when it is aborted. */
  retrieve(caller: Caller, query: string, signal: AbortSignal): Promise<Retrieved>
  /** Tells another server that nobody waits for its agent any more. */
  abandon(of: AbandonedCall): void
  /** The time of the store's clock in ms. Expiry uses this clock. */
  storeNow(database: string): number
  /** Schedules the check of an interruption that expires at this time of the store's clock, at the latest one worker round later. */
  expireAt(database: string, at: number): void
  /** Whether one more task may begin in this process. If not, any worker may claim it, and this process looks again when it has capacity. */
  hasCapacity(): boolean
  /** Starts work on jobs that were just created for this process. */
  launch(jobs: readonly JobRow[], log: ConversationLog): void
  /** The header `traceparent` for requests that a call makes; null if no traces are exported. */
  readonly traceparent: ((database: string, place: Pick<CallPlace, 'run' | 'call'>) => string) | null
  /** Set only in a replay, which follows a log that exists. */
  readonly follower?: Follower
  /** Reports internal errors that no caller gets, and where they happened if it is known. */
  report(error: unknown, where?: ReportedPlace): void
}

/** The result of a search: passages, the best first; what a person is told about it; and what embedding models used for it. */
interface Retrieved {
  readonly passages: readonly QuotedPassage[]
  readonly notices: readonly NoticeBody[]
  readonly embedded: readonly EmbeddingUse[]
}

/** The place of an internal error, by ids: of a run or task, and of the call in it. */
export interface ReportedPlace {
  readonly database: string
  readonly conversation: string
  readonly run: string
  readonly call: string
}

/** How a replay follows a log: it gives each entry its number, and sees it as it is recorded. */
interface Follower {
  /** Called before a job records an entry. */
  recording(job: {
    readonly identity: { readonly id: string; readonly epoch: number }
    readonly writer: { readonly entries: { numberFrom(number: number): void } }
  }): void
  /** Called with each entry that a job records, before it is stored. */
  recorded(entry: Entry): void
}

/** What a request to a model says of the call that makes it; nothing if no traces are exported. */
export function traced(
  { traceparent }: Pick<Environment, 'traceparent'>,
  database: string,
  place: CallPlace,
): { readonly traceparent?: string } {
  return traceparent === null ? untraced : { traceparent: traceparent(database, place) }
}

const untraced = {}
