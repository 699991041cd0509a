/** Makes the request of a model call from the fold alone: a job asks with it, and readers of a log find out with it what was asked. */
import type { Writable } from '@witan/protocol/entries'
import type { AgentCall } from '../conversation/state.ts'
import { modelView } from '../conversation/view.ts'
import type { ModelRequest } from '../model/model.ts'
import { asksOutput } from '../model/output.ts'
import type { Toolset } from '../tool/tool.ts'
import { type Asking, toolsOf } from './caller.ts'
import { outputRequest } from './output-request.ts'

/** What a budget says of a model call, and for what it is. */
interface Terms {
  /** False for a last answer: its tools are switched off. */
  readonly offered: boolean
  /** True if the answer is there and its structured form is requested [Tb10]. */
  readonly isForOutput: boolean
}

/** A request, and what it was made from. */
interface MadeRequest {
  readonly request: ModelRequest
  /** How many waiting messages it reads. */
  readonly messagesRead: number
  readonly toolset: Toolset
}

/** What the model of `call` is asked now, on these terms. Changes nothing; `asking` keeps the tools that were made. */
export function modelRequest(call: AgentCall, asking: Asking, { offered, isForOutput }: Terms): MadeRequest {
  const { system, toolset, offers } = toolsOf(call, asking)
  const { messages, messagesRead } = modelView(call, system)
  const plain = requestOf(call, { messages, tools: offers, offered })
  return { request: isForOutput ? outputRequest(call, plain) : plain, messagesRead, toolset }
}

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
