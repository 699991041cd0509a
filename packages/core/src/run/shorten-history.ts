/** Shortens a history that is too long before a model call, with or without a summary [Rb38, Rb39]. */
import type { ModelEndBody } from '@witan/protocol/entries'
import type { AgentCall } from '../conversation/state.ts'
import { allowModelCall } from '../budget/budget.ts'
import { type Cut, lastSeqBefore, summaryTokens, transcriptOf } from '../conversation/cut.ts'
import {
  type Model,
  ModelCallError,
  type ModelCallOptions,
  type ModelReply,
  type ModelRequest,
  namesOfModel,
} from '../model/model.ts'
import { readReply } from '../model/read-reply.ts'
import { traced } from '../job/environment.ts'
import { type Job, type OpenModelCall, record } from '../job/job.ts'
import { wordsOf } from '../job/lost-calls.ts'
import { circumstances } from '../job/task.ts'

type Summarize = NonNullable<Cut['summarize']>

/** Whether the budget allows two model calls: the summary and the answer. */
function affordsTwo(call: AgentCall, job: Job): boolean {
  const { agent, iterations, uncountedIterations } = call
  const twice = { ...job.run, modelCalls: job.run.modelCalls + 1 }
  return (
    allowModelCall(twice, { agent, iterations: iterations - uncountedIterations }, circumstances(job)).kind === 'tools'
  )
}

/** A request for the summary of what a cut leaves out. */
export interface SummaryCall extends OpenModelCall {
  readonly purpose: 'summary'
  readonly model: Model
  readonly cut: Cut
  readonly trim: Summarize
  readonly startedAt: number
  readonly folded: number
}

/**
 * Asks the agent's own model, which gets only text that it has read or written before [E47]. Null if there is no such model, which the request for the
 * answer says itself, or the budget has no room: then a notice says so, and the history stays.
 */
export function beginSummary(call: AgentCall, job: Job, cut: Cut): SummaryCall | null {
  const { summarize: trim } = cut
  if (!affordsTwo(call, job)) {
    tell(call, job, 'the budget leaves no room for a summary')
    return null
  }
  const model = job.env.model(call.model)
  if (trim === null || model === null) return null
  const request: SummaryCall = {
    ...{ call, purpose: 'summary', model, modelId: model.id, cut, trim },
    ...{ startedAt: job.env.clock.now(), folded: job.log.state.folded },
    ...{ usesIteration: false, reserved: 0, isAsking: false, isLost: false },
  }
  job.lifecycle.modelCalls.push(request)
  return request
}

/** Records a cut. */
export function recordCut(
  call: AgentCall,
  job: Job,
  { cut, text }: { readonly cut: Cut; readonly text: string },
): void {
  const body = { document: call.document.path, reader: call.agent.id, upToSeq: lastSeqBefore(cut.start), text }
  record(job, call.place, { type: 'summary', kind: null, body })
}

function tell(call: AgentCall, job: Job, why: string): void {
  const detail = `The history of \`${call.document.path}\` is too long and stays as it is: ${why}.`
  record(job, call.place, { type: 'notice', kind: null, body: { code: 'HISTORY_NOT_TRIMMED', detail } })
}

/** Records a summary with its cut. False if there is none: the history stays, and a notice says so. */
export function recordSummary(
  { call, model, cut, trim, startedAt }: SummaryCall,
  job: Job,
  {
    outcome,
    behind,
  }: {
    readonly outcome: { readonly reply: ModelReply } | { readonly failure: unknown }
    /** How many entries came between the request and its reply. */
    readonly behind: number
  },
): boolean {
  if ('failure' in outcome) {
    tell(call, job, wordsOf(outcome.failure))
    return false
  }
  const { reply } = outcome
  const { usage, finishReason } = reply
  const asked = { ...namesOfModel(reply, model), usage, finishReason, startedAt: reply.askedAt ?? startedAt }
  recordReply(call, job, { ...asked, ...(behind > 0 ? { behind } : {}) })
  const text = reply.text.trim()
  const summary = (call.scrub === null ? text : call.scrub(text)).slice(0, summaryTokens(trim) * 4)
  if (summary === '') {
    tell(call, job, 'the model gave no summary')
    return false
  }
  recordCut(call, job, { cut, text: trim.resultPrefix + summary })
  return true
}

/** Makes the request for a summary. */
export function summarized(request: SummaryCall, job: Job, signal: AbortSignal): Promise<ModelReply> {
  const { call, model, cut, trim } = request
  const transcript = transcriptOf(cut.dropped)
  const options = { signal, deltas: false, state: request, ...traced(job.env, job.log.state.database, call.place) }
  return condensed(model, trim, { transcript: call.scrub === null ? transcript : call.scrub(transcript), options })
}

/** How many times a transcript that is too long for its model is halved. */
const halvings = 6

/** Asks for a summary. If the transcript is too long for the model, its middle is left out. */
async function condensed(
  model: Model,
  trim: Summarize,
  { transcript, options }: { readonly transcript: string; readonly options: ModelCallOptions },
): Promise<ModelReply> {
  for (let most = transcript.length, left = halvings; ; most = Math.floor(most / 2), left -= 1) {
    try {
      return await readReply(model, requestOf(trim, shortened(transcript, most)), options)
    } catch (error) {
      if (left === 0 || !(error instanceof ModelCallError) || error.trouble !== 'context') throw error
    }
  }
}

function shortened(text: string, most: number): string {
  if (text.length <= most) return text
  const head = Math.floor(most / 4)
  return `${text.slice(0, head)}\n[${text.length - most} characters are left out here]\n…${text.slice(head - most)}`
}

function requestOf(trim: Summarize, transcript: string): ModelRequest {
  const size = `Use at most ${summaryTokens(trim)} tokens.`
  const content = `<conversation>\n${transcript}\n</conversation>\n\n${trim.endPrompt} ${size}`
  const messages = [
    { role: 'system', content: trim.beginningPrompt },
    { role: 'user', content },
  ] as const
  return { messages, tools: [], toolChoice: 'none', temperature: null, reasoningEffort: null, output: null }
}

/** Records the usage of the summary call. Its text is in the summary entry. */
function recordReply(
  call: AgentCall,
  job: Job,
  of: Pick<ModelEndBody, 'model' | 'asked' | 'usage' | 'finishReason' | 'startedAt' | 'behind'>,
): void {
  const nothing = { text: '', toolCalls: [], taken: 0, attempt: 0, offered: false, accepted: true }
  record(job, call.place, { type: 'end', kind: 'model', body: { ...of, ...nothing, purpose: 'summary' } })
}
