/** Makes the request of a model call from the fold alone: a job asks with it, and readers of a log find out with it what was asked. */
import type { Writable } from '@witan/protocol/entries'
import { type AgentCall, awaitsCritique, isAnswered } from '../conversation/state.ts'
import { modelView } from '../conversation/view.ts'
import type { ModelRequest } from '../model/model.ts'
import { asksOutput } from '../model/output.ts'
import type { Toolset } from '../tool/tool.ts'
import { type Asking, toolsOf } from './caller.ts'
import { outputRequest } from './output-request.ts'
import { critiqueRequest } from './critique-request.ts'

/** What a budget says of a model call, and for what it is. */
interface Terms {
  /** False for a last answer: its tools are switched off. */
  readonly offered: boolean
  readonly purpose: RequestPurpose
}

/** What is asked for beside an answer: its structured form [Tb10], or a critique of it [F08]. */
export type RequestPurpose = 'output' | 'critique' | null

/** What the model of a call is to be asked for now. */
export function purposeOf(call: AgentCall): RequestPurpose {
  if (call.final === null || call.document.inbox.length > 0) return null
  if (awaitsCritique(call)) return 'critique'
  return isAnswered(call) ? null : 'output'
}

/** A request, and what it was made from. */
interface MadeRequest {
  readonly request: ModelRequest
  /** How many waiting messages it reads. */
  readonly messagesRead: number
  readonly toolset: Toolset
}

/** What the model of `call` is asked now, on these terms. Changes nothing; `asking` keeps the tools that were made. */
export function modelRequest(call: AgentCall, asking: Asking, { offered, purpose }: Terms): MadeRequest {
  const { system, toolset, offers } = toolsOf(call, asking)
  const { messages, messagesRead } = modelView(call, system)
  const plain = requestOf(call, { messages, tools: offers, offered })
  return { request: purpose === null ? plain : closings[purpose](call, plain), messagesRead, toolset }
}

/** How a request for an answer becomes one for something else. */
const closings = { output: outputRequest, critique: critiqueRequest }

function requestOf(
  call: AgentCall,
  { messages, tools, offered }: Pick<ModelRequest, 'messages' | 'tools'> & { readonly offered: boolean },
): ModelRequest {
  const { reasoningEffort = null, maxOutputTokens, providerOptions, outputSchema, id } = call.agent
  const request: Writable<ModelRequest> = {
    messages,
    tools,
    toolChoice: tools.length === 0 || !offered ? 'none' : choiceOf(call),
    temperature: call.temperature,
    reasoningEffort,
    output: outputSchema === null || asksOutput(call.agent) ? null : { name: id, schema: outputSchema },
  }
  if (maxOutputTokens !== undefined) request.maxOutputTokens = maxOutputTokens
  if (providerOptions !== undefined) request.providerOptions = providerOptions
  return request
}

/** What the tool mode of a call asks of its next reply [T12, Tb09]. */
function choiceOf({ toolMode, agent, calledTool, endedToolMode }: AgentCall): ModelRequest['toolChoice'] {
  if (toolMode === 'none') return 'none'
  const isForced = toolMode === 'force' && !endedToolMode && (agent.endToolMode || !calledTool)
  return isForced ? 'required' : 'auto'
}
