/** The answer of a call. */
import type { LoggedToolCall } from '@witan/protocol/entries'

/** The reply that ends a call. */
export interface FinalReply {
  readonly text: string
  readonly finishReason: string
  readonly offered: boolean
  /** Set for a workflow's text that the runtime wrote, with its quotes marked. */
  readonly isAttributed?: boolean
  /** True if it leaves everything up to the nearest loop. */
  readonly exits?: boolean
  /** True if it was answered beside an exit without text: any answer before it goes first. */
  readonly isFallback?: boolean
  /** The entry of the model's reply: its seq is known once that is stored. Absent for an answer that no model gave. */
  readonly reply?: { readonly seq: number }
  /** Set once no critique of it is to be made any more: it was, or could not be, or it is the revision of a draft [F08]. */
  readonly isCriticised?: true
  /** The guardrails whose agents let it pass. */
  readonly passed?: Set<string>
  /** Set once hooks have decided on it as the end of its call. */
  readonly isChecked?: true
  /** Set once hooks have decided on it as the result of the call that asked for it. */
  readonly isPassed?: true
  /** The structured form of the answer, once its model has given it in a call of `set_output` [Tb10]. */
  readonly output?: { readonly value: unknown }
  /** The reply to the request for it that could not be used; there is at most one before the call fails. */
  readonly invalidOutput?: { readonly text: string; readonly asked: LoggedToolCall | null }
}
