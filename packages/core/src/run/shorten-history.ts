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
import { orAborted } from '../job/abort.ts'
import { traced } from '../job/environment.ts'
import { type Job, record } from '../job/job.ts'
import { endModelCall, noReplyOf, wordsOf } from '../job/lost-calls.ts'
import { circumstances } from '../job/task.ts'

type Summarize = NonNullable<Cut['summarize']>

/** Whether the budget allows two model calls: the summary and the answer. */
export function affordsTwo(call: AgentCall, job: Job): boolean {
  const { agent, iterations, uncountedIterations } = call
  const twice = { ...job.run, modelCalls: job.run.modelCalls + 1 }
  return (
    allowModelCall(twice, { agent, iterations: iterations - uncountedIterations }, circumstances(job)).kind === 'tools'
  )
}

/** Records the cut and returns true. If no summary can be made, the history stays, a notice says so, and the run continues. */
export async function shortenHistory(
  call: AgentCall,
  job: Job,
  { cut, signal, mayAsk }: { readonly cut: Cut; readonly signal: AbortSignal; readonly mayAsk: boolean },
): Promise<boolean> {
  await job.writer.commit() // the cut is named by a seq, which only a stored entry has
  while (job.log.proposals.pending !== null) await job.log.proposals.pending
  if (signal.aborted || job.lifecycle.stopped !== null) return false
  if (cut.summarize === null) return recordCut(call, job, { cut, text: '' })
  if (!mayAsk) return tell(call, job, 'the budget leaves no room for a summary')
  const text = await summaryOf(call, job, { cut, trim: cut.summarize, signal })
  return text !== null && recordCut(call, job, { cut, text })
}

function recordCut(call: AgentCall, job: Job, { cut, text }: { readonly cut: Cut; readonly text: string }): true {
  const body = { document: call.document.path, reader: call.agent.id, upToSeq: lastSeqBefore(cut.start), text }
  record(job, call.place, { type: 'summary', kind: null, body })
  return true
}

function tell(call: AgentCall, job: Job, why: string): false {
  const detail = `The history of \`${call.document.path}\` is too long and stays as it is: ${why}.`
  record(job, call.place, { type: 'notice', kind: null, body: { code: 'HISTORY_NOT_TRIMMED', detail } })
  return false
}

/** Asks the agent's own model, which gets only text that it has read or written before [E47]. Null if it gave no summary. */
async function summaryOf(
  call: AgentCall,
  job: Job,
  at: { readonly cut: Cut; readonly trim: Summarize; readonly signal: AbortSignal },
): Promise<string | null> {
  const { cut, trim, signal } = at
  const model = job.env.model(call.model)
  if (model === null) return null // the answer itself will say so
  const startedAt = job.env.clock.now()
  const scrub = call.scrub ?? ((text: string) => text)
  const { folded } = job.log.state
  const state = {
    call,
    purpose: 'summary' as const,
    modelId: model.id,
    folded,
    usesIteration: false,
    reserved: 0,
    isAsking: false,
    isLost: false,
  }
  job.lifecycle.modelCalls.push(state)
  let reply: ModelReply | null = null
  let failure: unknown
  try {
    const options = { signal, deltas: false, state, ...traced(job.env, job.log.state.database, call.place) }
    reply = await orAborted(condensed(model, trim, { transcript: scrub(transcriptOf(cut.dropped)), options }), signal)
  } catch (error) {
    failure = error
  }
  while (job.log.proposals.pending !== null) await job.log.proposals.pending
  if (reply !== null && !signal.aborted) state.isAsking = false
  const behind = job.log.state.folded - folded
  endModelCall(job, state, noReplyOf(failure, signal))
  if (signal.aborted) return null
  if (reply === null) {
    tell(call, job, wordsOf(failure))
    return null
  }
  recordReply(call, job, {
    ...namesOfModel(reply, model),
    usage: reply.usage,
    finishReason: reply.finishReason,
    startedAt: reply.askedAt ?? startedAt,
    ...(behind > 0 ? { behind } : {}),
  })
  const summary = scrub(reply.text.trim()).slice(0, summaryTokens(trim) * 4)
  if (summary !== '') return trim.resultPrefix + summary
  tell(call, job, 'the model gave no summary')
  return null
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
