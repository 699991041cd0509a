/** What entries say of a model call: its reply, or that there was none. */
import type { ModelUsage } from './counters.ts'
import type { ModelErrorCode, ModelPurpose } from './entry-sets.ts'

/** A tool call as the model wrote it; `arguments` is the raw text. */
export interface LoggedToolCall {
  readonly id: string
  readonly name: string
  readonly arguments: string
}

/**
 * Parts of a reply that only the adapter of that model can read, as JSON. They return to that model with the reply, and
 * nobody else reads them.
 */
export interface KeptParts {
  /** The adapter, and the provider's name of the model. */
  readonly by: string
  readonly parts: unknown
}

/** A model's complete reply. `taken` is the number of waiting messages of the document that it had read. */
export interface ModelEndBody {
  /** As the provider names it. */
  readonly model: string
  /** The name that was asked for, if it is another one. Usage counts by it: a provider may name its models as it likes. */
  readonly asked?: string
  readonly usage: ModelUsage | null
  readonly finishReason: string
  readonly text: string
  readonly toolCalls: readonly LoggedToolCall[]
  readonly taken: number
  readonly startedAt: number
  /** The attempt number of its deltas; a later reply of the same call has a higher one. */
  readonly attempt: number
  /** False for a last answer: its tools were switched off, and it does not count as an iteration. */
  readonly offered: boolean
  /** Set if its agent has no tools at all: the reply does not count as a tool round of the tree [R17]. */
  readonly toolless?: true
  /** False if the reply is empty, does not fit its output schema or was refused; then it is not used. */
  readonly accepted: boolean
  /** Set if a check refused it: what it said is not kept. */
  readonly refused?: true
  /**
   * Set if the model was not asked for an answer: of a `summary`, a `progress` and a `critique` only the usage counts. An `output` is the
   * structured form of the answer before it, in the arguments of its one tool call; it is in no document [Tb10].
   */
  readonly purpose?: ModelPurpose
  /** Ids of the messages that it had read, if they have ids. */
  readonly heard?: readonly string[]
  /**
   * How many entries of the conversation were folded between its request and this reply, in the process that asked: the request had not seen
   * them. Absent for none, and for `progress`.
   */
  readonly behind?: number
  /** Set if the reply asked for more tool calls than allowed: only the first `admitted` calls run, the others are refused. */
  readonly admitted?: number
  /** Returned to its model with the reply; absent if there is nothing. */
  readonly kept?: KeptParts
  /** What the model reasoned, without hidden values; absent unless its agent shows it. Only documents in full detail hold it. */
  readonly reasoning?: string
  /** The seq of the last message of a person that its request had read; absent for none. */
  readonly readUpTo?: number
  /**
   * Short digests of the system message, the tools and the settings of its request, in this order and with dots between: who computes that
   * request from the log sees whether code or limits have changed since. No reader gets it. Absent for a `summary` and a `progress`.
   */
  readonly digest?: string
}

/** A model call ended without a reply. The entry stands before what follows from it, and no terse reader gets it. */
export interface ModelErrorBody {
  readonly code: ModelErrorCode
  /** In the words of the model's server, if it said something. It never holds a hidden value. */
  readonly detail: string
  /** The id of the model; its name in the agent's definition if the call was not made, or if an earlier process made it. */
  readonly model: string
  /** Whether it counts as one of the model calls of its tree. False if it was not made. */
  readonly spent: boolean
  /** See the end of a model. */
  readonly purpose?: ModelPurpose
  /** See the end of a model. */
  readonly behind?: number
  /** When the request was made; absent if it was not, or if an earlier process made it. */
  readonly startedAt?: number
  /** Set if the request was for a last answer, with its tools switched off. */
  readonly offered?: false
  /** See the end of a model. */
  readonly digest?: string
}
