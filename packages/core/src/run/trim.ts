/** Making room before a call thinks: a history that is too long leaves its view, by a summary or without a word [Rb38, Rb39]. */
import type { ModelEndBody } from '@witan/protocol/entries'
import type { AgentCall } from '../conversation/state.ts'
import { type Cut, lastSeqBefore, summaryTokens, transcriptOf } from '../conversation/trim.ts'
import { type Model, ModelCallError, type ModelReply, type ModelRequest } from '../model/model.ts'
import { orAborted } from '../job/abort.ts'
import { type Job, record } from '../job/job.ts'

type Summarize = NonNullable<Cut['summarize']>

/** Records the cut. Where a summary cannot be had the history stays as it is, and a notice says so: the run goes on. */
export async function makeRoom(
  call: AgentCall,
  job: Job,
  { cut, signal, mayAsk }: { readonly cut: Cut; readonly signal: AbortSignal; readonly mayAsk: boolean },
): Promise<void> {
  await job.writer.commit() // what is kept is named by its seq
  if (signal.aborted || job.stopped !== null) return
  if (cut.summarize === null) return recordCut(call, job, { cut, text: '' })
  if (!mayAsk) return tell(call, job, 'the budget leaves no room for a summary')
  const text = await summaryOf(call, job, { cut, trim: cut.summarize, signal })
  if (text !== null) recordCut(call, job, { cut, text })
}

function recordCut(call: AgentCall, job: Job, { cut, text }: { readonly cut: Cut; readonly text: string }): void {
  const body = { document: call.document.path, reader: call.agent.id, upToSeq: lastSeqBefore(cut.turn), text }
  record(job, call.place, { type: 'summary', kind: null, body })
}

function tell(call: AgentCall, job: Job, why: string): void {
  const detail = `The history of \`${call.document.path}\` is too long and stays as it is: ${why}.`
  record(job, call.place, { type: 'notice', kind: null, body: { code: 'HISTORY_NOT_TRIMMED', detail } })
}

/** Asks the agent's own model, which reads only what it has read or said before [E47]; null where it gave nothing. */
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
  let reply: ModelReply
  try {
    reply = await orAborted(replyOf(model, requestOf(trim, scrub(transcriptOf(cut.dropped))), signal), signal)
  } catch (error) {
    if (!signal.aborted) tell(call, job, error instanceof Error ? error.message : 'the model could not be called')
    return null
  }
  if (signal.aborted) return null
  recordReply(call, job, {
    model: reply.model ?? model.id,
    usage: reply.usage,
    finishReason: reply.finishReason,
    startedAt,
  })
  const summary = scrub(reply.text.trim()).slice(0, summaryTokens(trim) * 4)
  if (summary !== '') return trim.resultPrefix + summary
  tell(call, job, 'the model gave no summary')
  return null
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

/** It counts as usage like every model call; its words stand in the summary. */
function recordReply(
  call: AgentCall,
  job: Job,
  of: Pick<ModelEndBody, 'model' | 'usage' | 'finishReason' | 'startedAt'>,
): void {
  const nothing = { text: '', toolCalls: [], taken: 0, attempt: 0, offered: false, accepted: true }
  record(job, call.place, { type: 'end', kind: 'model', body: { ...of, ...nothing, purpose: 'summary' } })
}

async function replyOf(model: Model, request: ModelRequest, signal: AbortSignal): Promise<ModelReply> {
  for await (const part of model.stream(request, { signal, deltas: false }))
    if (part.type === 'reply') return part.reply
  throw new ModelCallError('the model ended its stream without a reply', { retryable: false })
}
