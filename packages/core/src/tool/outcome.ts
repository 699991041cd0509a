/** The outcomes of a tool. The engine knows these three and never a kind of tool. */
import type { ErrorCode } from '@witan/protocol'
import type {
  AgentStartBody,
  EmbeddingUse,
  EntryContent,
  ModelEndBody,
  NoticeBody,
  RemoteAnswer,
} from '@witan/protocol/entries'
import type { Source } from '@witan/protocol/knowledge'
import { maxJsonDepth } from '@witan/protocol/schemas'
import { runByPieces } from '../identity/pausable.ts'
import { type PlainCopy, plainCopy } from '../identity/plain.ts'
import { countWork, isWorkSpent, nextTurn } from '../identity/turn.ts'
import { cutOpen, cutTo, errorText } from '../parameter/scrub.ts'
import type { InterruptionDraft, Spawn } from './waiting.ts'

/** A value for the model; or, with `failure`, an error that the model reads while the run continues. */
export interface ResultOutcome {
  readonly kind: 'result'
  readonly value: unknown
  /** The value as a model reads it, with what a model's server said, where that differs from what everybody may read. */
  readonly forModel?: unknown
  readonly truncated: boolean
  readonly failure: { readonly code: ErrorCode; readonly detail: string } | null
  /** The tool's own model calls: logged with the outcome, and counted. */
  readonly spent?: readonly ModelSpending[]
  /** What embedding models used for it: counted in usage, and in nothing else. */
  readonly embedded?: readonly EmbeddingUse[]
  /** Names of bound values that it used besides those of its start. */
  readonly usedBound?: readonly string[]
  /** Recorded at the call of the agent that made the tool call, in this order. */
  readonly notices?: readonly NoticeBody[]
  /** Recorded at the tool call before its end, in this order and in the same append. They hold nothing that is hidden from the agent. */
  readonly entries?: readonly OutcomeEntry[]
  /** The passages of documents in the value, which an answer may name as its sources. */
  readonly sources?: readonly Source[]
  /** Set if it handed over: the agent that gets control. */
  readonly handsTo?: string
  /** Set if it ends the call that made it, and everything up to the nearest loop [C26]. */
  readonly exitsLoop?: true
  /** Set by the body of a call of an agent on another server: what that answered. */
  readonly answered?: RemoteAnswer
  /** Set if the tool mode of the calling agent ends with it: the rest of its call is `auto`. The notice says so [Tb09]. */
  readonly endsToolMode?: NoticeBody
}
/** What a tool call may leave in the log beside its end. */
export type OutcomeEntry = Extract<EntryContent, { readonly type: 'memory' | 'plan' }>

/** A model call whose reply is not an agent's answer: only its usage counts. */
export type ModelSpending = Pick<ModelEndBody, 'model' | 'asked' | 'usage' | 'finishReason' | 'startedAt'>

/** The call waits for somebody outside, or for a child to start. */
export type PendingOutcome =
  | {
      readonly kind: 'pending'
      /** At least one; the call goes on once all are settled. */
      readonly interruptions: readonly InterruptionDraft[]
    }
  | {
      readonly kind: 'pending'
      readonly child: Spawn
      /**
       * Set for a task: the task's handle answers the call at once; this result does instead if the budget does not allow
       * the task.
       */
      readonly background?: { readonly noBudget: ResultOutcome }
      /** Set for a child that is waited for, and gets a part of the tree's budget of its own; this result stands in if there is none to give. */
      readonly share?: { readonly noBudget: ResultOutcome }
    }
/** Control goes to another agent, which binds its parameters by `map` from the agent that hands over. */
export interface TransferOutcome extends Pick<AgentStartBody, 'agent' | 'map'> {
  readonly kind: 'transfer'
  readonly handOver: NonNullable<AgentStartBody['handOver']>
}
/** The outcome of a tool call. */
export type Outcome = ResultOutcome | PendingOutcome | TransferOutcome

/** A value for the model: text unchanged, anything else as JSON. */
export function result(value: unknown, truncated = false): ResultOutcome {
  return { kind: 'result', value, truncated, failure: null }
}

/** The maximum length of a stored result, in characters; the model reads the original length. */
export const MOST_RESULT_CHARACTERS = 256_000

const mostResult = MOST_RESULT_CHARACTERS
/** An object may have many keys that JSON leaves out. */
const mostValues = 2 * mostResult

/**
 * A function's return value as an outcome: text, or a copy of the value as JSON. JSON that is nested too deep becomes text; what is too
 * long is cut, and read no further; a value that is not JSON is a failure. Gives way to other work between its pieces.
 */
export function returned(name: string, value: unknown): ResultOutcome | Promise<ResultOutcome> {
  return typeof value === 'string' ? text(value) : copied(name, value)
}

function text(value: string): ResultOutcome {
  return result(cutTo(value, mostResult), value.length > mostResult)
}

async function copied(name: string, value: unknown): Promise<ResultOutcome> {
  try {
    const copy = await runByPieces(plainCopy(value, { characters: mostResult, values: mostValues }))
    const { isWhole, characters, depth } = copy
    if (isWhole && 6 * characters <= mostResult && depth <= maxJsonDepth) return result(copy.value)
    countWork(characters)
    if (isWorkSpent()) await nextTurn()
    return cut(copy)
  } catch (error) {
    const why = reasonOf(error, 'it cannot be written')
    return failed('TOOL_FAILED', `\`${name}\` returned a value that is not JSON: ${why}`)
  }
}

function cut({ value, isWhole, depth }: PlainCopy): ResultOutcome {
  const text = JSON.stringify(value)
  if (isWhole && text.length <= mostResult) return result(depth > maxJsonDepth ? text : value)
  return result(isWhole ? cutTo(text, mostResult) : cutOpen(text, mostResult), true)
}

/** What something thrown says; `otherwise` if it is no error, or cannot be read. */
export function reasonOf(error: unknown, otherwise: string): string {
  try {
    return error instanceof Error ? String(error.message) : otherwise
  } catch {
    return otherwise
  }
}

/** A failure that the model reads; the run continues. `detail` never holds a hidden value; one that is too long is cut. */
export function failed(code: ErrorCode, detail: string): ResultOutcome {
  return { kind: 'result', value: null, truncated: false, failure: { code, detail: errorText(detail) } }
}

/** A hand-over that is not made, and why, in words without a full stop. */
export function refusedTransfer(why: string): ResultOutcome {
  return failed('TRANSFER_REFUSED', `${why}; transfer not performed`)
}

/** The call waits for answers from outside. */
export function pendingOn(...interruptions: readonly InterruptionDraft[]): PendingOutcome {
  return { kind: 'pending', interruptions }
}

/** There is no answer with a value: the model reads why. */
export function unanswered({ error, lapsed }: { readonly error: string; readonly lapsed?: string }): ResultOutcome {
  return failed(lapsed === 'expired' ? 'QUESTION_EXPIRED' : 'TOOL_FAILED', error)
}
