/** The request for the structured form of an answer, by one forced call of `set_output`, and its reply [Tb10]. */
import type { LoggedToolCall, NoticeBody } from '@witan/protocol/entries'
import { mismatch } from '../conversation/fold-exchange.ts'
import { attributed, jsonForModel } from '../model/attribution.ts'
import type { FinalReply } from '../conversation/final-reply.ts'
import type { AgentCall } from '../conversation/state.ts'
import type { ModelMessage } from '../model/message.ts'
import type { ModelReply, ModelRequest } from '../model/model.ts'
import { outputIssue, outputToolName, outputToolsOf } from '../model/output.ts'
import { type Job, record } from '../job/job.ts'
import { askAgain } from './invalid-reply.ts'
import { recordSideReply, type SideCall } from './side-reply.ts'

/** The request: a copy of the history, which does not enter the document, and `set_output` alone. `request` is an ordinary one. */
export function outputRequest(call: AgentCall, request: ModelRequest): ModelRequest {
  const words = `Call \`${outputToolName}\` now: its arguments are your answer above.`
  const question: ModelMessage = { role: 'user', content: attributed('witan', call.agent.id, words) }
  const { invalidOutput } = call.final as FinalReply
  const messages = [
    ...request.messages,
    question,
    ...(invalidOutput === undefined ? [] : repairOf(call, invalidOutput)),
  ]
  return { ...request, messages, tools: outputToolsOf(call.agent), toolChoice: 'required', output: null }
}

/** The reply that could not be used, and why. */
function repairOf(
  { agent, scrub }: AgentCall,
  { text, asked }: NonNullable<FinalReply['invalidOutput']>,
): ModelMessage[] {
  const clean = scrub ?? ((written: string) => written)
  if (asked === null && text === '') return []
  if (asked === null) {
    const content = attributed('witan', agent.id, `You must call \`${outputToolName}\` now, and write no text.`)
    return [
      { role: 'assistant', content: clean(text) },
      { role: 'user', content },
    ]
  }
  const { id, name, arguments: written } = asked
  const error = `invalid arguments: ${outputIssue(agent, written) ?? 'unknown trouble'}; call ${name} again`
  return [
    { role: 'assistant', content: '', toolCalls: [{ id, name, arguments: clean(written) }] },
    { role: 'tool', toolCallId: id, name, content: jsonForModel({ error: clean(error) }) },
  ]
}

/** Records the reply. Its first call of `set_output` counts, and nothing else in it does anything. */
export function recordOutputReply(outputCall: SideCall, job: Job, reply: ModelReply): void {
  const { call } = outputCall
  const asked = reply.toolCalls.find(({ name }) => name === outputToolName)
  const detail = problemOf(call, asked)
  const wasInvalid = call.final?.invalidOutput !== undefined
  const toolCalls = asked === undefined ? [] : [asked]
  recordSideReply(outputCall, job, { reply, purpose: 'output', accepted: detail === null, toolCalls })
  noteExtra(call, job, { asked: reply.toolCalls.length, isMissing: asked === undefined })
  if (detail === null) return
  const invalid = {
    detail,
    message: null,
    finishReason: reply.finishReason,
  }
  askAgain(call, job, { ...invalid, isLast: wasInvalid })
}

function problemOf(call: AgentCall, asked: LoggedToolCall | undefined): string | null {
  const who = `The model of \`${call.agent.id}\` called`
  if (asked === undefined) return `${who} no \`${outputToolName}\`.`
  const issue = outputIssue(call.agent, asked.arguments)
  if (issue === null) return null
  if (call.exchange !== null) return mismatch(call, issue)
  return `${who} \`${outputToolName}\` with arguments that do not fit its output schema: ${issue}.`
}

/** Notes a forced call that is missing, and calls beside it, which are not run. */
function noteExtra(call: AgentCall, job: Job, of: { readonly asked: number; readonly isMissing: boolean }): void {
  const who = `The model of \`${call.agent.id}\``
  const note = (body: NoticeBody) => record(job, call.place, { type: 'notice', kind: null, body })
  const count = of.asked - (of.isMissing ? 0 : 1)
  if (of.isMissing) {
    const detail = `${who} did not call \`${outputToolName}\`, although it had to.`
    note({ code: 'TOOL_CALL_MISSING', detail })
  }
  if (count > 0) {
    const detail = `${who} asked for ${count} further calls beside \`${outputToolName}\`; nothing of them was run.`
    note({ code: 'TOOL_CALLS_REFUSED', detail, count })
  }
}
