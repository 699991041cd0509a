/** Turns a request into the call of an AI SDK model; whatever was converted once is kept by identity. */
import type { ModelMessage } from '../message.ts'
import type { ModelCallOptions, ModelRequest, ModelTool } from '../model.ts'
import type {
  AiSdkCall,
  AiSdkLanguageModel,
  AiSdkMessage,
  AiSdkTool,
  AiSdkToolCall,
  AiSdkToolResult,
} from './ai-sdk-types.ts'

type ToolMessage = Extract<ModelMessage, { role: 'tool' }>

const messages = new WeakMap<ModelMessage, AiSdkMessage>()

// Weak references cost the garbage collector more than converting a short history again.
const longHistory = 32

/** The call for a request. A model of an earlier specification than V4 cannot be told how much to think. */
export function toCall(
  request: ModelRequest,
  { signal }: ModelCallOptions,
  version: AiSdkLanguageModel['specificationVersion'],
): AiSdkCall {
  const call: AiSdkCall = { prompt: toPrompt(request.messages), abortSignal: signal }
  if (request.tools.length > 0) {
    call.tools = toTools(request.tools)
    call.toolChoice = { type: request.toolChoice }
  }
  if (request.temperature !== null) call.temperature = request.temperature
  if (request.reasoningEffort !== null && version === 'v4') call.reasoning = request.reasoningEffort
  if (request.output !== null)
    call.responseFormat = { type: 'json', schema: request.output.schema, name: request.output.name }
  return call
}

function toPrompt(given: readonly ModelMessage[]): AiSdkMessage[] {
  const convert = given.length < longHistory ? toMessage : known
  const prompt: AiSdkMessage[] = []
  for (let at = 0; at < given.length; at += 1) {
    const message = given[at]
    if (message === undefined) continue
    if (message.role !== 'tool') {
      prompt.push(convert(message))
      continue
    }
    // Providers expect the results of one reply in one message, as the AI SDK itself sends them.
    let end = at + 1
    while (given[end]?.role === 'tool') end += 1
    prompt.push(end === at + 1 ? convert(message) : merged(given.slice(at, end), convert))
    at = end - 1
  }
  return prompt
}

function merged(run: readonly ModelMessage[], convert: (message: ModelMessage) => AiSdkMessage): AiSdkMessage {
  const content: AiSdkToolResult[] = []
  for (const message of run) {
    const single = convert(message)
    if (single.role === 'tool') content.push(...single.content)
  }
  return { role: 'tool', content }
}

function known(message: ModelMessage): AiSdkMessage {
  const earlier = messages.get(message)
  if (earlier !== undefined) return earlier
  const converted = toMessage(message)
  messages.set(message, converted)
  return converted
}

function toMessage(message: ModelMessage): AiSdkMessage {
  switch (message.role) {
    case 'system':
      return { role: 'system', content: message.content }
    case 'user':
      return { role: 'user', content: [{ type: 'text', text: message.content }] }
    case 'tool':
      return { role: 'tool', content: [toResult(message)] }
    case 'assistant': {
      const text = message.content === '' ? [] : [{ type: 'text' as const, text: message.content }]
      const calls = (message.toolCalls ?? []).map(
        (call): AiSdkToolCall => ({
          type: 'tool-call',
          toolCallId: call.id,
          toolName: call.name,
          input: toInput(call.arguments),
        }),
      )
      return { role: 'assistant', content: [...text, ...calls] }
    }
  }
}

function toResult({ toolCallId, name, content }: ToolMessage): AiSdkToolResult {
  return { type: 'tool-result', toolCallId, toolName: name, output: { type: 'text', value: content } }
}

// Providers send the input on as an object; what is none would make them refuse this and every later request.
function toInput(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {}
  } catch {
    return {}
  }
}

function toTools(given: readonly ModelTool[]): AiSdkTool[] {
  return given.map(({ name, description, parameters }) => ({
    type: 'function',
    name,
    description,
    inputSchema: parameters,
  }))
}
