/** The body of a call: a running tool that works in its place, where another call has a model or a workflow. */
import { type AgentCall, type ConversationState, liveJob, type LiveJob, type ToolCall } from './state.ts'
import { newToolCall } from './step.ts'

/** Whether a tool call is the body of its owner: it has no place of its own, and its outcome is that of the call. */
export function isBody({ place, owner }: ToolCall): boolean {
  return place !== null && place.call === owner.place.call
}

/** Starts the body of a call: the tool of that name, with a note of an earlier body. */
export function beginBody(
  state: ConversationState,
  call: AgentCall,
  { name, args, note }: { readonly name: string; readonly args: object; readonly note?: unknown },
): ToolCall {
  const { call: id } = call.place
  const body = newToolCall({ id, name, arguments: JSON.stringify(args) }, call)
  body.state = 'started'
  body.place = call.place
  body.note = note
  call.toolCalls = [body]
  liveJob(state, call.job)?.toolCalls.set(id, body)
  return body
}

/** Forgets the body of a call, if it has one. */
export function endBody(run: LiveJob, call: AgentCall): void {
  if (!call.toolCalls.some(isBody)) return
  run.toolCalls.delete(call.place.call)
  call.toolCalls = []
}
