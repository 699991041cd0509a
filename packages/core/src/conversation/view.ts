/** From the state to what a model sees: its instructions and parameters, its document, and what waits for it. */
import type { ModelMessage } from '../model/message.ts'
import { hear } from './hear.ts'
import { addPreface } from './shared.ts'
import type { AgentCall } from './state.ts'

/** What the model of `call` reads now, and how many waiting messages are in it. Roles alternate strictly [T11, E48]. `maxDepth` is how deep its run may go. */
export function modelView(
  call: AgentCall,
  { maxDepth }: { readonly maxDepth: number },
): { readonly messages: readonly ModelMessage[]; readonly taken: number } {
  const { messages, inbox, turns } = call.document
  const view: ModelMessage[] = [systemOf(call, maxDepth)]
  for (let index = call.firstMessage; index < messages.length; index += 1) view.push(messages[index] as ModelMessage)
  hear(view, inbox, call.scrub)
  if (call.preface !== null) addPreface(view, call.preface, 1 + (turns.at(-1)?.from ?? 0) - call.firstMessage)
  return { messages: view, taken: inbox.length }
}

/** Adapters keep what they made of a message by its identity. */
const lastHops = new WeakMap<ModelMessage, ModelMessage>()

/** An agent that has delegates and may not call them, for the depth of the run is reached, is told so in one line below the others [C2]. */
function systemOf({ agent, depth, system }: AgentCall, maxDepth: number): ModelMessage {
  if (agent.subAgents.length === 0 || depth < maxDepth) return system
  const known = lastHops.get(system)
  if (known !== undefined) return known
  const cue = `This is the last level (${depth} of ${maxDepth}): answer with what you have, no other agent can be asked.`
  const made: ModelMessage = { role: 'system', content: `${system.content}\n${cue}` }
  lastHops.set(system, made)
  return made
}
