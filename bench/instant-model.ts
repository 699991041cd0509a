/** A model that answers from a role's script at once, or after a set time: what is measured is everything around it. */
import type { Model, ModelPart, ModelRequest } from '@witan/core'
import { deltaText, type Reply, type Role, streamedText } from './scenario.ts'

/** How long every model call takes; 0 is no wait at all. */
export interface Latency {
  ms: number
}

const usage = { inputTokens: 20, outputTokens: 10, cachedInputTokens: 0, reasoningTokens: 0 }
let callIds = 0

/** The instant model of one agent. */
export function instantModel(name: string, role: Role, latency: Latency): Model {
  return {
    id: `instant/${name}`,
    async *stream(request, { deltas }) {
      if (latency.ms > 0) await new Promise((resolve) => setTimeout(resolve, latency.ms))
      const reply = role.reply(stepOf(request))
      if (deltas && 'deltas' in reply) {
        for (let index = 0; index < reply.deltas; index += 1) yield { type: 'delta', text: deltaText(index) }
      }
      yield wholeOf(reply)
    },
  }
}

/** How often the model has answered since the last user message. */
function stepOf({ messages }: ModelRequest): number {
  let step = 0
  for (let at = messages.length - 1; at >= 0 && messages[at]?.role !== 'user'; at -= 1) {
    if (messages[at]?.role === 'assistant') step += 1
  }
  return step
}

function wholeOf(reply: Reply): ModelPart {
  const calls = 'calls' in reply ? reply.calls : []
  const text = 'text' in reply ? reply.text : 'deltas' in reply ? streamedText(reply.deltas) : ''
  const toolCalls = calls.map((call) => {
    callIds += 1
    return { id: `call_${callIds}`, name: call.name, arguments: JSON.stringify(call.arguments) }
  })
  const finishReason = toolCalls.length > 0 ? 'tool_calls' : 'stop'
  return { type: 'reply', reply: { text, toolCalls, finishReason, usage, model: null } }
}
