/** Thinking: one model call of one agent, within its budget, and its reply into the log. */
import { faultPoint } from '../identity/fault-point.ts'
import { isWorkSpent, nextTurn } from '../identity/turn.ts'
import type { AgentCall } from '../conversation/state.ts'
import { prepareAnswer, prepareView } from '../conversation/view-ahead.ts'
import { type Cut, cutAll, cutOf } from '../conversation/cut.ts'
import { ModelCallError, type ModelCallOptions, type ModelReply } from '../model/model.ts'
import { isTimeOver } from '../model/time-limit.ts'
import { type CallTrouble, hintOf } from '../model/trouble.ts'
import { errorText } from '../parameter/scrub.ts'
import { orAborted } from '../job/abort.ts'
import { traced } from '../job/environment.ts'
import { type Job, keepAnswer, record } from '../job/job.ts'
import { endModelCall, failureCode, noReplyOf, wordsOf } from '../job/lost-calls.ts'
import { type PreparedModelCall, prepareModelCall } from './prepare-model-call.ts'
import { recordModelReply } from './record-model-reply.ts'
import { createReasoning } from './reasoning.ts'
import { failCall } from './settle.ts'
import { affordsTwo, shortenHistory } from './shorten-history.ts'

/** Calls the model of `call` once and records its reply. What goes wrong is an event of the call, never an exception. */
export async function think(call: AgentCall, job: Job, controller: AbortController): Promise<void> {
  // The result of an effect that must not repeat is stored first: a sibling of it may have woken the loop meanwhile.
  if (job.writer.settling !== null) await job.writer.settling
  const { signal } = controller
  const { timeLimit } = job.env
  const watched = timeLimit.begin(controller)
  try {
    // Where the history is cut is decided on what is rendered of it.
    const ahead = prepareView(call)
    if (ahead !== null) (await ahead)()
    const cut = signal.aborted ? null : cutOf(call, job.run)
    if (cut !== null) await trim(cut, { call, job, signal })
    const refusal = await ask(call, job, signal)
    if (refusal !== null) await trimAndAsk(refusal, { call, job, signal })
  } finally {
    timeLimit.end(watched)
  }
}

interface Thinking {
  readonly call: AgentCall
  readonly job: Job
  readonly signal: AbortSignal
}

/** True if the history was cut. */
async function trim(cut: Cut | null, { call, job, signal }: Thinking): Promise<boolean> {
  return cut !== null && (await shortenHistory(call, job, { cut, signal, mayAsk: affordsTwo(call, job) }))
}

/** A request beyond the context is made once more where the history can be cut. */
async function trimAndAsk(refusal: Failure, thinking: Thinking): Promise<void> {
  const { call, job, signal } = thinking
  if (!(await trim(cutAll(call, job.run), thinking))) return failModelCall(call, job, refusal)
  const still = await ask(call, job, signal)
  if (still !== null) failModelCall(call, job, still)
}

/** Why a model call came to nothing. */
interface Failure {
  readonly error: unknown
  /** The id of the model; of a call that was not made, its name. */
  readonly model: string
}

/**
 * Calls the model and records its reply or its failure, in the same moment in which the call no longer counts as under way: a decision in between
 * would count it twice, or not at all. Returns a refusal of a request beyond the context, unrecorded; else null. An aborted call is no failure,
 * unless its time was over.
 */
async function ask(call: AgentCall, job: Job, signal: AbortSignal): Promise<Failure | null> {
  const ahead = prepareView(call)
  const forget = ahead === null ? null : await ahead
  while (job.log.proposals.pending !== null) await job.log.proposals.pending
  if (signal.aborted) {
    forget?.()
    return failLate(call, job, { signal, model: call.model })
  }
  const modelCall = prepareModelCall(call, job)
  forget?.()
  if (modelCall === null) return null
  job.lifecycle.modelCalls.push(modelCall)
  let reply: ModelReply | undefined
  let failure: Failure | null = null
  try {
    reply = await orAborted(streamed(modelCall, job, signal), signal)
    faultPoint('model-reply-received')
  } catch (error) {
    failure = { error, model: modelCall.model.id }
  }
  if (isWorkSpent()) await nextTurn() // replies that arrive together may all be long to check
  const answer = reply === undefined ? null : prepareAnswer(call, reply.text)
  if (answer !== null) keepAnswer(call, job, await answer)
  while (job.log.proposals.pending !== null) await job.log.proposals.pending
  if (reply !== undefined && !signal.aborted) modelCall.isAsking = false
  endModelCall(job, modelCall, noReplyOf(failure?.error, signal))
  if (signal.aborted) return failLate(call, job, { signal, model: modelCall.model.id })
  if (failure !== null && troubleIn(failure) === 'context') return failure
  if (failure !== null) failModelCall(call, job, failure)
  else {
    recordModelReply(modelCall, job, reply as ModelReply)
    job.busy.delete(call.place.call)
  }
  return null
}

/** Fails an aborted call if its time was over. */
function failLate(
  call: AgentCall,
  job: Job,
  { signal, model }: { readonly signal: AbortSignal; readonly model: string },
): null {
  if (isTimeOver(signal)) failModelCall(call, job, { error: signal.reason, model })
  return null
}

function troubleIn({ error }: Failure): CallTrouble | null {
  return error instanceof ModelCallError ? error.trouble : null
}

function failModelCall(call: AgentCall, job: Job, failure: Failure): void {
  const { error, model } = failure
  const trouble = troubleIn(failure)
  failCall(call, job, {
    code: failureCode(error),
    detail: `Model \`${model}\` could not be called: ${wordsOf(error)}`,
    hint: hintOf(trouble, error instanceof ModelCallError && error.retryable),
  })
  job.busy.delete(call.place.call)
}

async function streamed(modelCall: PreparedModelCall, job: Job, signal: AbortSignal): Promise<ModelReply> {
  faultPoint('model-request')
  const { call, model, request, attempt, isForOutput } = modelCall
  const { hub, clock } = job.env
  const { channel } = job.log.state
  const tell = noteRecorder(call, job, signal)
  // Readers see the answer itself, not the request for another form of it.
  const deltas = !isForOutput && hub.isRead(channel)
  const shows = !isForOutput && call.agent.showReasoning === true
  const reasoning = shows ? createReasoning(call, job, attempt) : null
  const shared = { signal, deltas, tell, state: modelCall, ...traced(job.env, job.log.state.database, call.place) }
  const options = reasoning === null ? shared : { ...shared, reasoning: true as const }
  for await (const part of model.stream(request, options)) {
    if (part.type === 'reply') {
      reasoning?.end()
      return part.reply
    }
    if (part.type === 'reasoning') reasoning?.push(part)
    else if (!isForOutput) hub.delta(channel, { place: call.place, text: part.text, attempt, at: clock.now() })
  }
  throw new ModelCallError('the model ended its stream without a reply', { retryable: false })
}

/** Of many warnings a run shows the first ones. */
const mostWarnings = 20

/** Records what a model's adapter says of a call: a warning once in a run. */
function noteRecorder(call: AgentCall, job: Job, signal: AbortSignal): NonNullable<ModelCallOptions['tell']> {
  return (note) => {
    const { warnings } = job.run
    const text = errorText(note.detail)
    const detail = call.scrub === null ? text : call.scrub(text)
    const isSaid = note.code === 'MODEL_WARNING' && (warnings.includes(detail) || warnings.length >= mostWarnings)
    if (signal.aborted || isSaid) return
    const body = { ...note, detail }
    job.log.proposals.afterwards(() => {
      if (!signal.aborted) record(job, call.place, { type: 'notice', kind: null, body })
    })
  }
}
