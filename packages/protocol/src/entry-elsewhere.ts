/** What entries say of calls between servers: how a run came in, and what a call that went out has brought. */
import type { UsageCounters } from './usage.ts'

/** A chain of calls between servers, as it holds for a run: this is call `hop` of at most `maxHops` [M04–M06]. */
export interface AgentChain {
  readonly hop: number
  readonly maxHops: number
  /** The id that the first server gave the chain; null if nobody said one. */
  readonly root: string | null
  /** The addresses that the call came through, the caller last. */
  readonly path: readonly string[]
  /** Set if an agent called without a chain: it counts as the first hop, and no model is told [M35, M37]. */
  readonly assumed?: true
}

/** What accepted evidence proved as a run began: whom it is about, and for whom that one acts. Nothing of its proof is kept [M22]. */
export interface ProvenEvidence {
  readonly subject: string
  /** The immediate principal first, the origin last. */
  readonly onBehalfOf: readonly string[]
  readonly issuer: string
  /** `sha256:` and the digest of its canonical JSON. */
  readonly digest: string
  /** In ms. */
  readonly expiresAt: number
}

/** How a run came from outside, over A2A. */
export interface IncomingCall {
  /** Absent for a person, who has no chain. */
  readonly chain?: AgentChain
  /** Set if the caller routes a mention at the beginning of the answer [M13]. */
  readonly mentionRelay?: 'inline'
  /** What its evidence proved; absent if it came with none that is trusted. */
  readonly evidence?: readonly ProvenEvidence[]
  /** What has come since, of the same issuer and subject: evidence for other servers is made from it. Rights stay those of `evidence` [E22]. */
  readonly renewed?: ProvenEvidence
  /** Set if the caller shares its budget with this server: it lowers the limits of the run. */
  readonly budget?: CallBudget
}

/** What a caller from outside lets a run spend, at most. Null: the caller has no such limit. */
export interface CallBudget {
  readonly modelCalls: number | null
  readonly tokens: number | null
  readonly costUsd: number | null
  readonly seconds: number | null
  /** How many levels of calls there may be below the run's root. */
  readonly depth: number | null
}

/** What an agent on another server answered. */
export interface RemoteAnswer {
  readonly text: string
  readonly output: unknown
  /** How many of the messages that waited for it were sent to it. */
  readonly taken: number
  /** What it says that its answer has cost, beside what is counted already; null if that is unknown. */
  readonly usage: UsageCounters | null
}
