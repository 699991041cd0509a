/** The body of a chat completion, put together from JSON text that is kept per message: a step pays only for what is new. */
import { readJson } from '@witan/protocol/schemas'
import type { ModelFile, ModelMessage, ModelToolCall } from '../message.ts'
import type { ModelRequest, ModelTool } from '../model.ts'
import { type ModelSettings, settingsWith } from '../settings.ts'
import { returnedWith, type Wanted } from './openai-compatible-kept.ts'

type Output = NonNullable<ModelRequest['output']>

// By identity, as the contract of a request allows. Entries live as long as the conversation's own messages.
/** What all read, and apart from it what stands with the kept parts of its model. */
const createTexts = () => ({ plain: new WeakMap<ModelMessage, string>(), kept: new WeakMap<ModelMessage, string>() })
const messageTexts = { asTheyAre: createTexts(), thoughts: createTexts(), signatures: createTexts() }
const toolTexts = new WeakMap<readonly ModelTool[], string>()
const outputTexts = new WeakMap<Output, string>()

/** How a server names what a reply may have: OpenAI's models that think refuse the older name. */
export type LimitKey = 'max_tokens' | 'max_completion_tokens'

/** Whose kept parts go back, what a reply without any gets in their place, and what stands behind the settings of a request. */
interface Sending {
  readonly keeper: string
  readonly wanted: Wanted | null
  readonly limitKey: LimitKey
  readonly settings: ModelSettings
}

const asItIs: Sending = { keeper: '', wanted: null, limitKey: 'max_tokens', settings: {} }

/** The request as JSON text in the form of OpenAI's `POST /chat/completions`, always streamed and with usage. */
export function requestBody(model: string, request: ModelRequest, sending = asItIs): string {
  let messages = ''
  for (const message of request.messages)
    messages += messages === '' ? messageText(message, sending) : `,${messageText(message, sending)}`
  let body = `{"model":${JSON.stringify(model)},"stream":true,"stream_options":{"include_usage":true},"messages":[${messages}]`
  // A choice without tools is refused by several servers, and says nothing.
  if (request.tools.length > 0) {
    body += `,"tools":${cached(toolTexts, request.tools, toolsText)},"tool_choice":"${request.toolChoice}"`
  }
  if (request.temperature !== null) body += `,"temperature":${request.temperature}`
  if (request.reasoningEffort !== null) body += `,"reasoning_effort":"${request.reasoningEffort}"`
  if (request.output !== null) body += `,"response_format":${cached(outputTexts, request.output, outputText)}`
  const { maxOutputTokens, providerOptions } = settingsWith(request, sending.settings)
  if (maxOutputTokens !== undefined) body += `,"${sending.limitKey}":${maxOutputTokens}`
  const own = JSON.stringify(providerOptions?.['openaiCompatible'] ?? {})
  if (own !== '{}') body += `,${own.slice(1, -1)}`
  return `${body}}`
}

function cached<Key extends object>(store: WeakMap<Key, string>, key: Key, write: (key: Key) => string): string {
  const known = store.get(key)
  if (known !== undefined) return known
  const text = write(key)
  store.set(key, text)
  return text
}

function messageText(message: ModelMessage, sending: Sending): string {
  return cached(textsFor(message, sending), message, (fresh) => JSON.stringify(wireMessage(fresh, sending)))
}

function textsFor(message: ModelMessage, { keeper, wanted }: Sending): WeakMap<ModelMessage, string> {
  if (message.role !== 'assistant') return messageTexts.asTheyAre.plain
  return messageTexts[wanted ?? 'asTheyAre'][message.kept?.by === keeper ? 'kept' : 'plain']
}

function wireMessage(message: ModelMessage, { keeper, wanted }: Sending): Record<string, unknown> {
  if (message.role === 'tool') {
    return { role: 'tool', tool_call_id: message.toolCallId, content: message.content }
  }
  const { role, content } = message
  if (message.role === 'user' && message.files !== undefined) return { role, content: partsOf(content, message.files) }
  if (message.role !== 'assistant') return { role, content }
  const returned = returnedWith(message, keeper)
  const thoughts = wanted === 'thoughts' ? { reasoning_content: '', ...returned?.message } : returned?.message
  const { toolCalls = [] } = message
  if (toolCalls.length === 0) return { role, content, ...thoughts }
  const calls = toolCalls.map((call, at) => {
    const extra = returned?.extraOf.get(call.id)
    return wireToolCall(call, extra ?? (wanted === 'signatures' && at === 0 ? unsigned : undefined))
  })
  return { role, content: content === '' ? null : content, ...thoughts, tool_calls: calls }
}

/** What Google's documentation gives for calls that its model did not make: the first of a reply must be signed. */
const unsigned = { google: { thought_signature: 'skip_thought_signature_validator' } }

function partsOf(text: string, files: readonly ModelFile[]): Record<string, unknown>[] {
  return [{ type: 'text', text }, ...files.map(filePart)]
}

const audioFormats: Readonly<Record<string, string>> = {
  'audio/wav': 'wav',
  'audio/x-wav': 'wav',
  'audio/mpeg': 'mp3',
  'audio/mp3': 'mp3',
}

/** A file in the form of chat completions: a picture, a sound, or any other. */
function filePart({ name, mediaType, data }: ModelFile): Record<string, unknown> {
  const url = `data:${mediaType};base64,${data}`
  if (mediaType.startsWith('image/')) return { type: 'image_url', image_url: { url } }
  const format = audioFormats[mediaType]
  if (format !== undefined) return { type: 'input_audio', input_audio: { data, format } }
  return { type: 'file', file: { filename: name ?? `file.${mediaType.split('/')[1]}`, file_data: url } }
}

function wireToolCall({ id, name, arguments: written }: ModelToolCall, extra: unknown): Record<string, unknown> {
  const call = { id, type: 'function', function: { name, arguments: safeArguments(written) } }
  return extra === undefined ? call : { ...call, extra_content: extra }
}

// Several servers parse the arguments of earlier calls to fill their template and refuse the whole request when they are no
// object: one slip of the model would then stop the conversation for good. The tool's result has told the model what was wrong.
function safeArguments(text: string): string {
  const read = readJson(text)
  const value = read.ok ? read.value : null
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? text : '{}'
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
