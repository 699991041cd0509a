/** From the state to what a model sees: its instructions and parameters, its document, and what waits for it. */
import type { ModelMessage } from '../model/message.ts'
import { hear } from './hear.ts'
import { addPreface } from './shared.ts'
import type { AgentCall } from './state.ts'

/** What the model of `call` reads now, and how many waiting messages are in it. Roles alternate strictly [T11, E48]. */
export function modelView(call: AgentCall): { readonly messages: readonly ModelMessage[]; readonly taken: number } {
  const { messages, inbox, turns } = call.document
  const view: ModelMessage[] = [call.system]
  for (let index = call.firstMessage; index < messages.length; index += 1) view.push(messages[index] as ModelMessage)
  hear(view, inbox, call.scrub)
  if (call.preface !== null) addPreface(view, call.preface, 1 + (turns.at(-1)?.from ?? 0) - call.firstMessage)
  return { messages: view, taken: inbox.length }
}
