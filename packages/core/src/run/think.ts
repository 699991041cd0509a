/** Thinking: asks the model of one agent, within its budget, until its reply is in the log. The steps between are in `thinking.ts`. */
import { faultPoint } from '../identity/fault-point.ts'
import { countWork, isWorkSpent, nextTurn } from '../identity/turn.ts'
import type { AgentCall } from '../conversation/state.ts'
import { prepareAnswer, prepareView } from '../conversation/view-ahead.ts'
import { ModelCallError, type ModelNote, type ModelReply } from '../model/model.ts'
import { errorText } from '../parameter/scrub.ts'
import { orAborted } from '../job/abort.ts'
import { traced } from '../job/environment.ts'
import { type Job, keepAnswer, record } from '../job/job.ts'
import { askBefore, checkedReply, isHeldBack, isToBeAsked } from './model-hooks.ts'
import { purposeOf } from './model-request.ts'
import type { PreparedModelCall } from './prepare-model-call.ts'
import { createReasoning } from './reasoning.ts'
import { summarized } from './shorten-history.ts'
import {
  endRequest,
  firstStep,
  type NextStep,
  type Outcome,
  type Request,
  takeStep,
  type Thinking,
} from './thinking.ts'

/** Calls the model of `call` until it has answered, or failed. What goes wrong is an event of the call, never an exception. */
export async function think(call: AgentCall, job: Job, controller: AbortController): Promise<void> {
  // The result of an effect that must not repeat is stored first: a sibling of it may have woken the loop meanwhile.
  if (job.writer.settling !== null) await job.writer.settling
  const { timeLimit } = job.env
  const watched = timeLimit.begin(controller)
  try {
    const ahead = prepareView(call)
    if (ahead !== null) (await ahead)()
    const thinking: Thinking = { call, job, signal: controller.signal, refused: null }
    let next: NextStep = firstStep(thinking)
    while (next !== null) {
      if (typeof next !== 'string') {
        next = await asked(thinking, next)
        continue
      }
      // A step of this process is taken once what a cut or a critique names is stored, the texts are prepared, and the log takes entries.
      if (next === 'cut' || purposeOf(call) === 'critique') await job.writer.commit()
      const view = next === 'cut' ? null : prepareView(call)
      const forget = view === null ? null : await view
      while (job.log.proposals.pending !== null) await job.log.proposals.pending
      // Hooks may take their time: the log is to take entries behind them too.
      const given = next !== 'answer' || !isToBeAsked(call, job) || askBefore(thinking)
      const mayAsk = typeof given === 'boolean' ? given : await given
      while (job.log.proposals.pending !== null) await job.log.proposals.pending
      // Nothing is asked or recorded behind a cancel that came meanwhile.
      next = !mayAsk || isOver(job) ? null : takeStep(thinking, next)
      forget?.()
    }
  } finally {
    timeLimit.end(watched)
  }
}

function isOver({ run, lifecycle }: Job): boolean {
  return run.cancelled || lifecycle.failure !== null
}

/** To record a long reply and to read it again takes about 1 ms for a million characters. */
const charactersOfUnit = 100

/** Waits for the end of a request, and records it. */
async function asked(thinking: Thinking, request: Request): Promise<NextStep> {
  const { call, job, signal } = thinking
  let outcome: Outcome
  try {
    const made = request.purpose === 'summary' ? summarized(request, job, signal) : streamed(request, job, signal)
    outcome = { reply: await orAborted(made, signal) }
    faultPoint('model-reply-received')
  } catch (failure) {
    outcome = { failure: failure ?? new Error('unknown trouble') }
  }
  if ('reply' in outcome) countWork(outcome.reply.text.length / charactersOfUnit)
  if (isWorkSpent()) await nextTurn() // replies that arrive together may all be long
  if ('reply' in outcome && request.purpose !== 'summary') {
    const checked = checkedReply(thinking, request, outcome.reply)
    outcome = checked instanceof Promise ? await checked : checked
  }
  const answer = 'reply' in outcome && request.purpose === null ? prepareAnswer(call, outcome.reply.text) : null
  if (answer !== null) keepAnswer(call, job, await answer)
  while (job.log.proposals.pending !== null) await job.log.proposals.pending
  return endRequest(thinking, request, outcome)
}

async function streamed(modelCall: PreparedModelCall, job: Job, signal: AbortSignal): Promise<ModelReply> {
  faultPoint('model-request')
  const { call, model, request, attempt, purpose } = modelCall
  const { hub, clock } = job.env
  const { channel } = job.log.state
  const tell = (note: ModelNote) => {
    job.log.proposals.afterwards(() => {
      if (!signal.aborted) recordNote(call, job, note)
    })
  }
  // Readers see the answer itself, not another form of it or what is said about it.
  const isAnswer = purpose === null
  // What hooks may refuse or rewrite is shown to nobody before.
  const isShown = isAnswer && !isHeldBack(call, job)
  const deltas = isShown && hub.isRead(channel)
  const shows = isShown && call.agent.showReasoning === true
  const reasoning = shows ? createReasoning(call, job, attempt) : null
  const shared = { signal, deltas, tell, state: modelCall, ...traced(job.env, job.log.state.database, call.place) }
  const options = reasoning === null ? shared : { ...shared, reasoning: true as const }
  for await (const part of model.stream(request, options)) {
    if (part.type === 'reply') {
      reasoning?.end()
      return part.reply
    }
    if (part.type === 'reasoning') reasoning?.push(part)
    else if (isShown) hub.delta(channel, { place: call.place, text: part.text, attempt, at: clock.now() })
  }
  throw new ModelCallError('the model ended its stream without a reply', { retryable: false })
}

/** Of many warnings a run shows the first ones. */
const mostWarnings = 20

/** Records what a model's adapter says of a call: a warning once in a run. */
export function recordNote(call: AgentCall, job: Job, note: ModelNote): void {
  const { warnings } = job.run
  const text = errorText(note.detail)
  const detail = call.scrub === null ? text : call.scrub(text)
  if (note.code === 'MODEL_WARNING' && (warnings.includes(detail) || warnings.length >= mostWarnings)) return
  record(job, call.place, { type: 'notice', kind: null, body: { ...note, detail } })
}
