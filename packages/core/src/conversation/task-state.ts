/** What a conversation keeps of its tasks: those that a run has started, and those that have ended. */
import type { CallPlace } from '@witan/protocol/entries'
import type { Principal } from '../identity/principal.ts'

/** A task as the run that started it knows it. */
export interface StartedTask {
  readonly place: CallPlace
  readonly toolCallId: string
  readonly startedAt: number
}

/** An ended task that is not reported yet. */
export interface EndedTask {
  readonly place: CallPlace
  /** The call that started it, and the job of that call. */
  readonly caller: { readonly place: CallPlace; readonly job: string }
  readonly status: 'completed' | 'failed'
  /** Whom it worked for. */
  readonly principal: Principal
  /** What its caller reads, in the form that the edge sets; the error text of a failure. */
  readonly answer: TaskAnswer
}

/** An answer as a model reads it, and as everybody may: without what a model's server said. */
export interface TaskAnswer {
  readonly forModel: unknown
  readonly plain: unknown
}

/** How a run ended badly, in both forms. */
export type BadEnd = { readonly [Form in keyof TaskAnswer]: string }
