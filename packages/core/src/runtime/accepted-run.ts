/** What a caller gets of a run that it has begun. */
import type { RunResult } from '@witan/protocol'

/**
 * A run that was accepted: its message is stored. `result` settles when the run ends or waits for somebody. It never
 * rejects because of what a model, tool or person did.
 */
export interface AcceptedRun {
  readonly runId: string
  readonly conversationId: string
  /** The last seq before this run's first entry: the start for a reader of only this run. */
  readonly fromSeq: number
  readonly result: Promise<RunResult>
}

/**
 * A started conversation. `created` is false if the id existed and the conversation continues; `run` is null without a
 * prompt.
 */
export interface OpenedConversation {
  readonly id: string
  readonly agent: string
  readonly created: boolean
  readonly run: AcceptedRun | null
}
