/** What a tool can come to. The engine knows these three and never a kind of tool. */
import type { ErrorCode } from '@witan/protocol'

/** A value for the model; or, with `failure`, an error that the model reads while the run goes on. */
export interface ResultOutcome {
  readonly kind: 'result'
  readonly value: unknown
  readonly truncated: boolean
  readonly failure: { readonly code: ErrorCode; readonly detail: string } | null
}
/** The call waits: for a child that was spawned, or for somebody outside. */
export interface PendingOutcome {
  readonly kind: 'pending'
}
/** The rest of the run goes to another agent. No edge gives this outcome yet. */
export interface TransferOutcome {
  readonly kind: 'transfer'
  readonly agent: string
}
/** What a tool call came to. */
export type Outcome = ResultOutcome | PendingOutcome | TransferOutcome

/** A value for the model: text as it is, anything else as JSON. */
export function result(value: unknown, truncated = false): ResultOutcome {
  return { kind: 'result', value, truncated, failure: null }
}

/** A failure that the model reads; the run goes on. `detail` never holds a hidden value. */
export function failed(code: ErrorCode, detail: string): ResultOutcome {
  return { kind: 'result', value: null, truncated: false, failure: { code, detail } }
}

/** The call waits for what was spawned or asked. */
export const pending: PendingOutcome = Object.freeze({ kind: 'pending' })
