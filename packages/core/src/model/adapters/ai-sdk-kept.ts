/** The parts of an AI SDK reply that text and calls do not say, kept in their order, and the message that gives them back. */
import type { KeptParts } from '@witan/protocol/entries'
import { readJson } from '@witan/protocol/schemas'
import { keptAddress } from '../kept-address.ts'
import type { AssistantMessage, ModelToolCall } from '../message.ts'
import type {
  AiSdkJson,
  AiSdkLanguageModel,
  AiSdkPart,
  AiSdkPromptPart,
  AiSdkProviderOptions,
  AiSdkToolOutput,
} from './ai-sdk-types.ts'

/** How a part stands in the log. Words and arguments of the message are not repeated: a text has its length, a call its id. */
type Kept =
  | ({ readonly type: 'text'; readonly length: number } & Marks)
  | ({ readonly type: 'call'; readonly toolCallId: string } & Marks)
  // Since V4, and only where a model of it wrote it.
  | ({ readonly type: 'custom'; readonly kind: string } & Marks)
  | Exclude<AiSdkPromptPart, { readonly type: 'text' }>

interface Marks {
  readonly providerOptions?: AiSdkProviderOptions
}

const keepers = new WeakMap<AiSdkLanguageModel, string>()

/** Identifies the parts that a model accepts back: those of the same provider, address and model, under any name that an agent uses. */
export function keeperOf(model: AiSdkLanguageModel): string {
  const known = keepers.get(model)
  if (known !== undefined) return known
  const keeper = `ai-sdk ${model.provider} ${addressOf(model)} ${model.modelId}`
  keepers.set(model, keeper)
  return keeper
}

/** Where a model is, as the packages of providers keep it; '' where they do not. */
function addressOf(model: object): string {
  try {
    const { config } = model as { config?: { baseURL?: unknown; url?: unknown } }
    const given = typeof config?.url === 'function' ? config.url({ path: '', modelId: '' }) : config?.baseURL
    return keptAddress(new URL(String(given)))
  } catch {
    return ''
  }
}

/** What is to be kept of a reply; undefined where its text and its calls are all there is. */
export function keptOf(content: readonly AiSdkPart[], by: string): KeptParts | undefined {
  const parts = content.flatMap(keptPart)
  const isPlain = parts.every(
    ({ type, providerOptions }, at) =>
      providerOptions === undefined && (type === 'call' || (type === 'text' && at === 0)),
  )
  return isPlain ? undefined : { by, parts }
}

function keptPart(part: AiSdkPart): Kept[] {
  const { providerMetadata, text = '', toolCallId = '', toolName = '' } = part
  const marks = marksOf({ providerOptions: providerMetadata as AiSdkProviderOptions | undefined })
  switch (part.type) {
    case 'text':
      return text === '' && providerMetadata === undefined ? [] : [{ type: 'text', length: text.length, ...marks }]
    case 'reasoning':
      return [{ type: 'reasoning', text, ...marks }]
    case 'custom':
      return part.kind === undefined ? [] : [{ type: 'custom', kind: part.kind, ...marks }]
    case 'tool-call':
      if (part.providerExecuted !== true) return [{ type: 'call', toolCallId, ...marks }]
      return [{ type: 'tool-call', toolCallId, toolName, input: inputOf(part), providerExecuted: true, ...marks }]
    case 'tool-result':
      return [{ type: 'tool-result', toolCallId, toolName, output: outputOf(part), ...marks }]
    default:
      return []
  }
}

function inputOf({ input }: AiSdkPart): unknown {
  if (typeof input !== 'string') return input ?? {}
  const read = readJson(input)
  return read.ok ? read.value : {}
}

function outputOf({ result, isError }: AiSdkPart): AiSdkToolOutput {
  const value = (result ?? null) as AiSdkJson
  if (isError === true) return { type: 'error-json', value }
  return typeof value === 'string' ? { type: 'text', value } : { type: 'json', value }
}

/**
 * The content of a message with its kept parts, in the order of the reply. Null where they are not of this model, or do not fit the
 * message any more: then its words and calls are all that is sent.
 */
export function contentWith(
  { content, toolCalls = [], kept }: AssistantMessage,
  { by, callOf }: { readonly by: string; readonly callOf: (call: ModelToolCall) => AiSdkPromptPart },
): AiSdkPromptPart[] | null {
  if (kept === undefined || kept.by !== by || !isList(kept.parts)) return null
  const parts = kept.parts
  const calls = new Map(toolCalls.map((call) => [call.id, call]))
  const texts = textsOf(parts, content)
  let given = 0
  const whole: AiSdkPromptPart[] = []
  for (const part of parts) {
    if (part.type === 'text') {
      const text = texts[given] ?? ''
      given += 1
      if (text !== '' || part.providerOptions !== undefined) whole.push({ type: 'text', text, ...marksOf(part) })
    } else if (part.type === 'call') {
      const call = calls.get(part.toolCallId)
      if (call === undefined || !calls.delete(part.toolCallId)) return null
      whole.push({ ...callOf(call), ...marksOf(part) })
    } else whole.push(part as AiSdkPromptPart)
  }
  return calls.size > 0 || given < texts.length ? null : whole
}

/** The text of a message cut as its reply was. One that is not as long any more stands in the first place. */
function textsOf(parts: readonly Kept[], content: string): string[] {
  const lengths = parts.flatMap((part) => (part.type === 'text' ? [part.length] : []))
  const isAsItWas = lengths.reduce((sum, length) => sum + length, 0) === content.length
  if (!isAsItWas || lengths.length === 0) return content === '' ? [] : [content]
  let from = 0
  return lengths.map((length) => {
    from += length
    return content.slice(from - length, from)
  })
}

function marksOf({ providerOptions }: { readonly providerOptions?: AiSdkProviderOptions | undefined }): Marks {
  return providerOptions === undefined ? {} : { providerOptions }
}

const known = ['text', 'call', 'reasoning', 'custom', 'tool-call', 'tool-result']

/** The log may come from a file that somebody else wrote. */
function isList(parts: unknown): parts is readonly Kept[] {
  return Array.isArray(parts) && parts.every((part) => known.includes((part as Partial<Kept> | null)?.type ?? ''))
}
