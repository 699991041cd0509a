/** Thinking: one model call of one agent, within its budget, and its reply into the log. */
import { faultPoint } from '../identity/fault-point.ts'
import type { AgentCall } from '../conversation/state.ts'
import { type Cut, cutAll, cutOf } from '../conversation/trim.ts'
import { type Model, ModelCallError, type ModelCallOptions, type ModelReply } from '../model/model.ts'
import { type CallTrouble, hintOf } from '../model/trouble.ts'
import { orAborted } from '../job/abort.ts'
import { type Job, record } from '../job/job.ts'
import { type Asking, askingOf } from './asking.ts'
import { takeReply } from './reply.ts'
import { failCall } from './settle.ts'
import { affordsTwo, shortenHistory } from './trim.ts'

/** Calls the model of `call` once and records its reply. What goes wrong is an event of the call, never an exception. */
export async function think(call: AgentCall, job: Job, signal: AbortSignal): Promise<void> {
  // The result of an effect that must not repeat is stored first: a sibling of it may have woken the loop meanwhile.
  if (job.writer.settling !== null) await job.writer.settling
  const cut = signal.aborted ? null : cutOf(call, job.run)
  if (cut !== null) await trim(cut, { call, job, signal })
  const error = await ask(call, job, signal)
  if (error === null) return
  const isRoomMade = troubleIn(error) === 'context' && (await trim(cutAll(call, job.run), { call, job, signal }))
  if (isRoomMade) job.meter.lost += 1 // refused, and counted all the same
  const still = isRoomMade ? await ask(call, job, signal) : error
  if (still !== null) failThink(call, job, still)
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

/** Asks, and records the reply. Null unless the call failed: with its error. */
async function ask(call: AgentCall, job: Job, signal: AbortSignal): Promise<Failure | null> {
  const asking = signal.aborted ? null : askingOf(call, job)
  const reply = asking === null ? null : await replyTo(asking, job, signal)
  if (asking === null || reply === null) return null
  if ('error' in reply) return reply
  takeReply(asking, job, reply)
  return null
}

interface Failure {
  readonly error: unknown
  readonly model: Model
}

/** The reply; null where it was given up. */
async function replyTo(asking: Asking, job: Job, signal: AbortSignal): Promise<ModelReply | Failure | null> {
  const { model, holdsRound } = asking
  const { meter } = job
  if (holdsRound) meter.offering += 1
  try {
    const reply = await orAborted(streamed(asking, job, signal), signal)
    faultPoint('model-reply-received')
    if (!signal.aborted) return reply
  } catch (error) {
    if (!signal.aborted) return { error, model }
  } finally {
    if (holdsRound) meter.offering -= 1
  }
  // Nobody waits for the reply, but it is paid for.
  meter.lost += 1
  return null
}

function troubleIn({ error }: Failure): CallTrouble | null {
  return error instanceof ModelCallError ? error.trouble : null
}

function failThink(call: AgentCall, job: Job, failure: Failure): void {
  const { error, model } = failure
  const trouble = troubleIn(failure)
  failCall(call, job, {
    code: trouble === 'context' ? 'MODEL_CONTEXT_EXCEEDED' : 'MODEL_CALL_FAILED',
    detail: failureText(error, model),
    hint: hintOf(trouble, error instanceof ModelCallError && error.retryable),
  })
}

async function streamed({ call, model, request, attempt }: Asking, job: Job, signal: AbortSignal): Promise<ModelReply> {
  faultPoint('model-request')
  const { hub, clock } = job.env
  const { channel } = job.log.state
  const tell = noteTaker(call, job, signal)
  for await (const part of model.stream(request, { signal, deltas: hub.isRead(channel), tell })) {
    if (part.type === 'reply') return part.reply
    hub.delta(channel, { place: call.place, text: part.text, attempt, at: clock.now() })
  }
  throw new ModelCallError('the model ended its stream without a reply', { retryable: false })
}

/** Of many warnings a run shows the first ones. */
const mostWarnings = 20

/** Records what a model's adapter says of a call: a warning once in a run. */
function noteTaker(call: AgentCall, job: Job, signal: AbortSignal): NonNullable<ModelCallOptions['tell']> {
  return (note) => {
    const { warned } = job.run
    const isSaid = note.code === 'MODEL_WARNING' && (warned.has(note.detail) || warned.size >= mostWarnings)
    if (signal.aborted || isSaid) return
    const detail = call.scrub === null ? note.detail : call.scrub(note.detail)
    record(job, call.place, { type: 'notice', kind: null, body: { code: note.code, detail } })
    if (note.code === 'MODEL_WARNING') warned.add(note.detail)
  }
}

function failureText(error: unknown, model: Model): string {
  const words = error instanceof Error ? error.message : 'unknown trouble'
  return `Model \`${model.id}\` could not be called: ${words}`
}
