/** The steps of an agent's thinking. Each records at once, and returns what comes next: a request to the model, another step, or nothing. */
import { type AgentCall, awaitsCritique } from '../conversation/state.ts'
import { type Cut, cutAll, cutOf } from '../conversation/cut.ts'
import { isGuarding } from '../conversation/guards.ts'
import { messageToLookFor } from '../conversation/retrieval.ts'
import { ModelCallError, type ModelReply } from '../model/model.ts'
import { isTimeOver } from '../model/time-limit.ts'
import { hintOf } from '../model/trouble.ts'
import type { Verdict } from '../hook/ask.ts'
import { messageToCheck } from '../job/check-dues.ts'
import type { Job } from '../job/job.ts'
import { endModelCall, failureCode, noReplyOf, wordsOf } from '../job/lost-calls.ts'
import { type PreparedModelCall, prepareModelCall } from './prepare-model-call.ts'
import { recordModelReply } from './record-model-reply.ts'
import { skipCritique } from './reflect.ts'
import { failCall } from './settle.ts'
import { beginSummary, recordCut, recordSummary, type SummaryCall } from './shorten-history.ts'

/** The thinking of one agent's call, from its first request to its answer. */
export interface Thinking {
  readonly call: AgentCall
  readonly job: Job
  readonly signal: AbortSignal
  /** The failure of the request that was beyond the context, once there was one. */
  refused: Failure | null
}

/** Why a model call came to nothing. */
interface Failure {
  readonly error: unknown
  /** The id of the model; of a call that was not made, its name. */
  readonly model: string
}

/** A request that is under way: for the answer, or for a summary of a history that is too long. */
export type Request = PreparedModelCall | SummaryCall

/** A step that waits only for this process: the history is cut, or the answer is asked for. */
type OwnStep = 'cut' | 'answer'

/** What comes next in a thinking. Null if nothing does. */
export type NextStep = Request | OwnStep | null

/** How a request ended. */
export type Outcome =
  | {
      readonly reply: ModelReply
      /** What hooks have decided of it; absent: they allow it. */
      readonly verdict?: Verdict<string>
    }
  | { readonly failure: unknown }

/** Where a thinking begins. Whether the history is cut is decided on what is rendered of it. */
export function firstStep({ call, job, signal }: Thinking): OwnStep {
  return !signal.aborted && !awaitsCritique(call) && cutOf(call, job.run) !== null ? 'cut' : 'answer'
}

/** Cuts the history, or makes the next request. A cut is named by a seq, which only a stored entry has. */
export function takeStep(thinking: Thinking, step: OwnStep): NextStep {
  const { call, job, signal } = thinking
  if (signal.aborted) return stopped(thinking, call.model)
  if (step === 'cut') return cut(thinking)
  // A message that came since the last step is checked and looked for first.
  if (job.hooks !== null && messageToCheck(job.hooks, call) !== null) return null
  if (isGuarding(call)) return null
  return messageToLookFor(call) === null ? prepareModelCall(call, job) : null
}

/** Records how a request ended. */
export function endRequest(thinking: Thinking, request: Request, outcome: Outcome): NextStep {
  const { job, signal } = thinking
  const { folded } = job.log.state
  if ('reply' in outcome && !signal.aborted) request.isAsking = false
  endModelCall(job, request, noReplyOf('reply' in outcome ? undefined : outcome.failure, signal))
  if (signal.aborted) return stopped(thinking, request.modelId)
  if (request.purpose !== 'summary') return endAnswer(thinking, request, outcome)
  return recordSummary(request, job, { outcome, behind: folded - request.folded }) ? 'answer' : notCut(thinking)
}

function cut(thinking: Thinking): NextStep {
  const { call, job } = thinking
  const found = cutOfNext(thinking)
  if (found === null) return notCut(thinking)
  if (found.summarize !== null) return beginSummary(call, job, found) ?? notCut(thinking)
  recordCut(call, job, { cut: found, text: '' })
  return 'answer'
}

function cutOfNext({ call, job, refused }: Thinking): Cut | null {
  return refused === null ? cutOf(call, job.run) : cutAll(call, job.run)
}

/** The history stays as it is. A request that was beyond the context is not made once more. */
function notCut(thinking: Thinking): OwnStep | null {
  if (thinking.refused === null) return 'answer'
  failThinking(thinking, thinking.refused)
  return null
}

/** A reply or a failure is recorded in the same moment in which the call no longer counts as under way: a decision in between would err. */
function endAnswer(thinking: Thinking, request: PreparedModelCall, outcome: Outcome): NextStep {
  const { call, job, refused } = thinking
  if ('reply' in outcome) {
    recordModelReply(request, job, outcome)
    job.busy.delete(call.place.call)
    return null
  }
  const failure = { error: outcome.failure, model: request.modelId }
  if (request.purpose === 'critique') {
    const why = `model \`${request.modelId}\` could not be called: ${wordsOf(outcome.failure)}`
    skipCritique(call, job, { reason: 'model', why })
    job.busy.delete(call.place.call)
    return null
  }
  // A request beyond the context is made once more where the history can be cut.
  if (refused === null && troubleOf(failure) === 'context' && cutAll(call, job.run) !== null) {
    thinking.refused = failure
    return 'cut'
  }
  failThinking(thinking, failure)
  return null
}

/** An aborted call is no failure, unless its time was over. */
function stopped(thinking: Thinking, model: string): null {
  const { signal } = thinking
  if (isTimeOver(signal)) failThinking(thinking, { error: signal.reason, model })
  return null
}

function troubleOf({ error }: Failure) {
  return error instanceof ModelCallError ? error.trouble : null
}

function failThinking({ call, job }: Thinking, failure: Failure): void {
  const { error, model } = failure
  failCall(call, job, {
    code: failureCode(error),
    detail: `Model \`${model}\` could not be called: ${wordsOf(error)}`,
    hint: hintOf(troubleOf(failure), error instanceof ModelCallError && error.retryable),
  })
  job.busy.delete(call.place.call)
}
