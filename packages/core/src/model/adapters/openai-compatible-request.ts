/** The body of a chat completion, put together from JSON text that is kept per message: a step pays only for what is new. */
import type { ModelMessage, ModelToolCall } from '../message.ts'
import type { ModelRequest, ModelTool } from '../model.ts'

type Output = NonNullable<ModelRequest['output']>

// By identity, as the contract of a request allows. Entries live as long as the conversation's own messages.
const messageTexts = new WeakMap<ModelMessage, string>()
const toolTexts = new WeakMap<readonly ModelTool[], string>()
const outputTexts = new WeakMap<Output, string>()

/** The request as JSON text in the form of OpenAI's `POST /chat/completions`, always streamed and with usage. */
export function requestBody(model: string, request: ModelRequest): string {
  let messages = ''
  for (const message of request.messages)
    messages += messages === '' ? messageText(message) : `,${messageText(message)}`
  let body = `{"model":${JSON.stringify(model)},"stream":true,"stream_options":{"include_usage":true},"messages":[${messages}]`
  // A choice without tools is refused by several servers, and says nothing.
  if (request.tools.length > 0) {
    body += `,"tools":${cached(toolTexts, request.tools, toolsText)},"tool_choice":"${request.toolChoice}"`
  }
  if (request.temperature !== null) body += `,"temperature":${request.temperature}`
  if (request.reasoningEffort !== null) body += `,"reasoning_effort":"${request.reasoningEffort}"`
  if (request.output !== null) body += `,"response_format":${cached(outputTexts, request.output, outputText)}`
  return `${body}}`
}

function cached<Key extends object>(store: WeakMap<Key, string>, key: Key, write: (key: Key) => string): string {
  const known = store.get(key)
  if (known !== undefined) return known
  const text = write(key)
  store.set(key, text)
  return text
}

function messageText(message: ModelMessage): string {
  return cached(messageTexts, message, (fresh) => JSON.stringify(wireMessage(fresh)))
}

function wireMessage(message: ModelMessage): Record<string, unknown> {
  if (message.role === 'tool') {
    return { role: 'tool', tool_call_id: message.toolCallId, content: message.content }
  }
  if (message.role === 'assistant' && message.toolCalls !== undefined && message.toolCalls.length > 0) {
    const content = message.content === '' ? null : message.content
    return { role: 'assistant', content, tool_calls: message.toolCalls.map(wireToolCall) }
  }
  return { role: message.role, content: message.content }
}

function wireToolCall(call: ModelToolCall): Record<string, unknown> {
  return { id: call.id, type: 'function', function: { name: call.name, arguments: safeArguments(call.arguments) } }
}

// Several servers parse the arguments of earlier calls to fill their template and refuse the whole request when they are no
// object: one slip of the model would then stop the conversation for good. The tool's result has told the model what was wrong.
function safeArguments(text: string): string {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? text : '{}'
  } catch {
    return '{}'
  }
}

function toolsText(tools: readonly ModelTool[]): string {
  return JSON.stringify(
    tools.map(({ name, description, parameters }) => {
      return {
        type: 'function',
        function: description === '' ? { name, parameters } : { name, description, parameters },
      }
    }),
  )
}

function outputText({ name, schema }: Output): string {
  return JSON.stringify({ type: 'json_schema', json_schema: { name, schema, strict: isStrict(schema) } })
}

const notInStrict = [
  'oneOf',
  'allOf',
  'not',
  'if',
  'patternProperties',
  'propertyNames',
  'dependentRequired',
  'dependentSchemas',
]

/**
 * Whether OpenAI takes the schema as strict: every object closed, all its properties required, none of the words it does not
 * know. Otherwise it would refuse the request. The caller checks the output in any case.
 */
function isStrict(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.every(isStrict)
  if (typeof schema !== 'object' || schema === null) return true
  if (notInStrict.some((word) => word in schema)) return false
  const { type, properties, required, additionalProperties } = schema as Record<string, unknown>
  if (type === 'object' || (Array.isArray(type) && type.includes('object'))) {
    const listed: readonly unknown[] = Array.isArray(required) ? required : []
    if (additionalProperties !== false || !Object.keys(properties ?? {}).every((name) => listed.includes(name)))
      return false
  }
  return Object.values(schema).every(isStrict)
}
