/** Turns a request into the call of an AI SDK model; whatever was converted once is kept by identity. */
import { readJson } from '@witan/protocol/schemas'
import type { AssistantMessage, ModelFile, ModelMessage, ModelToolCall, UserTextMessage } from '../message.ts'
import { contentWith, keeperOf } from './ai-sdk-kept.ts'
import type { ModelCallOptions, ModelRequest, ModelTool } from '../model.ts'
import type {
  AiSdkCall,
  AiSdkFile,
  AiSdkLanguageModel,
  AiSdkMessage,
  AiSdkPromptPart,
  AiSdkProviderOptions,
  AiSdkTool,
  AiSdkToolCall,
  AiSdkToolResult,
} from './ai-sdk-types.ts'

type ToolMessage = Extract<ModelMessage, { role: 'tool' }>

// By identity, as the contract of a request allows. What a message holds for one model only is kept apart from what all read.
const messages = new WeakMap<ModelMessage, AiSdkMessage>()
const withKept = new WeakMap<ModelMessage, AiSdkMessage>()

// Weak references cost the garbage collector more than converting a short history again.
const longHistory = 32

/** The call for a request. A model of an earlier specification than V4 cannot be told how much to think. */
export function toCall(
  request: ModelRequest,
  { signal, traceparent }: ModelCallOptions,
  model: AiSdkLanguageModel,
): AiSdkCall {
  const call: AiSdkCall = { prompt: toPrompt(request.messages, model), abortSignal: signal }
  if (traceparent !== undefined) call.headers = { traceparent }
  if (request.tools.length > 0) {
    call.tools = toTools(request.tools)
    call.toolChoice = { type: request.toolChoice }
  }
  if (request.temperature !== null) call.temperature = request.temperature
  if (request.maxOutputTokens !== undefined) call.maxOutputTokens = request.maxOutputTokens
  if (request.providerOptions !== undefined) call.providerOptions = request.providerOptions as AiSdkProviderOptions
  if (request.reasoningEffort !== null && model.specificationVersion === 'v4') call.reasoning = request.reasoningEffort
  if (request.output !== null)
    call.responseFormat = { type: 'json', schema: request.output.schema, name: request.output.name }
  return call
}

function toPrompt(given: readonly ModelMessage[], model: AiSdkLanguageModel): AiSdkMessage[] {
  const by = keeperOf(model)
  const keeps = given.length >= longHistory
  const convert = (message: ModelMessage) => {
    if (message.role === 'user' && message.files !== undefined) return withFiles(message, message.files, model)
    return keeps ? known(message, by) : toMessage(message, by)
  }
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

function known(message: ModelMessage, by: string): AiSdkMessage {
  const store = message.role === 'assistant' && message.kept?.by === by ? withKept : messages
  const earlier = store.get(message)
  if (earlier !== undefined) return earlier
  const converted = toMessage(message, by)
  store.set(message, converted)
  return converted
}

function toMessage(message: ModelMessage, by: string): AiSdkMessage {
  switch (message.role) {
    case 'system':
      return { role: 'system', content: message.content }
    case 'user':
      return { role: 'user', content: [{ type: 'text', text: message.content }] }
    case 'tool':
      return { role: 'tool', content: [toResult(message)] }
    case 'assistant':
      return { role: 'assistant', content: contentWith(message, { by, callOf: toToolCall }) ?? plainContent(message) }
  }
}

/** A message with files is made for one call, so it is not kept. */
function withFiles(
  { content }: UserTextMessage,
  files: readonly ModelFile[],
  { specificationVersion }: AiSdkLanguageModel,
): AiSdkMessage {
  const parts = files.map(({ name, mediaType, data }): AiSdkFile => {
    const form = specificationVersion === 'v4' ? { type: 'data', data } : data
    return { type: 'file', mediaType, data: form as never, ...(name === null ? {} : { filename: name }) }
  })
  return { role: 'user', content: [{ type: 'text', text: content }, ...parts] }
}

function plainContent({ content, toolCalls = [] }: AssistantMessage): AiSdkPromptPart[] {
  const calls = toolCalls.map(toToolCall)
  return content === '' ? calls : [{ type: 'text', text: content }, ...calls]
}

function toToolCall({ id, name, arguments: written }: ModelToolCall): AiSdkToolCall {
  return { type: 'tool-call', toolCallId: id, toolName: name, input: toInput(written) }
}

function toResult({ toolCallId, name, content }: ToolMessage): AiSdkToolResult {
  return { type: 'tool-result', toolCallId, toolName: name, output: { type: 'text', value: content } }
}

// Providers send the input on as an object; what is none would make them refuse this and every later request.
function toInput(text: string): unknown {
  const read = readJson(text)
  const value = read.ok ? read.value : null
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {}
}

function toTools(given: readonly ModelTool[]): AiSdkTool[] {
  return given.map(({ name, description, parameters }) => ({
    type: 'function',
    name,
    description,
    inputSchema: parameters,
  }))
}
