/** What a tool can come to. The engine knows these three and never a kind of tool. */
import type { ErrorCode } from '@witan/protocol'
import type { ModelEndBody } from '@witan/protocol/entries'
import { cutMark } from '../parameter/scrub.ts'

/** A value for the model; or, with `failure`, an error that the model reads while the run goes on. */
export interface ResultOutcome {
  readonly kind: 'result'
  readonly value: unknown
  readonly truncated: boolean
  readonly failure: { readonly code: ErrorCode; readonly detail: string } | null
  /** The model calls that it made itself: they are recorded with it, and count. */
  readonly spent?: readonly ModelSpending[]
}
/** A model call that answers no agent: it counts as usage, and nothing else comes of it. */
export type ModelSpending = Pick<ModelEndBody, 'model' | 'usage' | 'finishReason' | 'startedAt'>

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

/** How much of what a tool gives is kept, in characters; the model reads how much there was. */
export const MOST_RESULT_CHARACTERS = 256_000

/** What code of somebody else gave: text or JSON as it is, cut where it is too long, and a failure where it is no JSON at all. */
export function given(name: string, value: unknown): ResultOutcome {
  const text = typeof value === 'string' ? value : jsonOf(value)
  if (text instanceof Error) return failed('TOOL_FAILED', `\`${name}\` gave a value that is no JSON: ${text.message}`)
  if (text.length <= MOST_RESULT_CHARACTERS) return result(value)
  const kept = text.slice(0, MOST_RESULT_CHARACTERS).replace(/[\ud800-\udbff]$/, '')
  return result(kept + cutMark(kept.length, text.length), true)
}

function jsonOf(value: unknown): string | Error {
  try {
    return JSON.stringify(value) ?? 'null'
  } catch (error) {
    // The engine's own words for a circle run over several lines, and quote names of the value.
    const isCircle = error instanceof TypeError && error.message.includes('circular')
    if (isCircle) return new Error('it refers to itself')
    return error instanceof Error ? error : new Error('it cannot be written')
  }
}

/** A failure that the model reads; the run goes on. `detail` never holds a hidden value. */
export function failed(code: ErrorCode, detail: string): ResultOutcome {
  return { kind: 'result', value: null, truncated: false, failure: { code, detail } }
}

/** The call waits for what was spawned or asked. */
export const pending: PendingOutcome = Object.freeze({ kind: 'pending' })

/** Nobody answered with a value: the model reads why. */
export function unanswered({ error, lapsed }: { readonly error: string; readonly lapsed?: string }): ResultOutcome {
  return failed(lapsed === 'expired' ? 'QUESTION_EXPIRED' : 'TOOL_FAILED', error)
}
