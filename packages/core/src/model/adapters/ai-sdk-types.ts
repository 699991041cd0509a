/** The part of the AI SDK's language models that we use, written as structure: specifications V2, V3 and V4 all fit it. */

/** A language model of any AI SDK provider, such as `openai('gpt-5')`. */
export interface AiSdkLanguageModel {
  readonly specificationVersion: 'v2' | 'v3' | 'v4'
  readonly provider: string
  readonly modelId: string
  doGenerate(options: AiSdkCall): PromiseLike<AiSdkResult>
  doStream(options: AiSdkCall): PromiseLike<{ readonly stream: AiSdkStream }>
}

/** The options of a call that a `ModelRequest` can express. */
export interface AiSdkCall {
  prompt: AiSdkMessage[]
  abortSignal: AbortSignal
  headers?: Record<string, string>
  tools?: AiSdkTool[]
  toolChoice?: { type: 'auto' } | { type: 'required' } | { type: 'none' }
  temperature?: number
  maxOutputTokens?: number
  providerOptions?: AiSdkProviderOptions
  /** Known since V4. */
  reasoning?: 'none' | 'minimal' | 'low' | 'medium' | 'high'
  responseFormat?: { type: 'json'; schema: AiSdkSchema; name: string }
}

// The providers type a schema by its known keywords; for us it is any JSON object. `object` fits both.
type AiSdkSchema = object

/** A message of a prompt. */
export type AiSdkMessage =
  | { role: 'system'; content: string }
  | { role: 'user'; content: (AiSdkText | AiSdkFile)[] }
  | { role: 'assistant'; content: AiSdkPromptPart[] }
  | { role: 'tool'; content: AiSdkToolResult[] }

/** JSON, as the providers type it. */
export type AiSdkJson = null | string | number | boolean | AiSdkJson[] | { [key: string]: AiSdkJson }

/** What a provider reads of its own, by the provider's name. It came as `providerMetadata`, or a user set it. */
export type AiSdkProviderOptions = Record<string, { [key: string]: AiSdkJson }>

/** A part of an assistant's message in a prompt. */
export type AiSdkPromptPart =
  | AiSdkText
  | { type: 'reasoning'; text: string; providerOptions?: AiSdkProviderOptions }
  | AiSdkToolCall
  | AiSdkToolResult

/** Text in a prompt. */
interface AiSdkText {
  type: 'text'
  text: string
  providerOptions?: AiSdkProviderOptions
}

/** A file in a prompt: `data` is base64, which V4 wants with a name for its kind. */
export interface AiSdkFile {
  type: 'file'
  mediaType: string
  filename?: string
  data: AiSdkFileData
}

// Each specification reads one of both; typed as none of them, so that a model of any specification fits.
type AiSdkFileData = never

/** A tool call in a prompt; `input` is parsed. */
export interface AiSdkToolCall {
  type: 'tool-call'
  toolCallId: string
  toolName: string
  input: unknown
  providerExecuted?: boolean
  providerOptions?: AiSdkProviderOptions
}

/** What a tool gave. */
export type AiSdkToolOutput = { type: 'text'; value: string } | { type: 'json' | 'error-json'; value: AiSdkJson }

/** A tool result in a prompt. */
export interface AiSdkToolResult {
  type: 'tool-result'
  toolCallId: string
  toolName: string
  output: AiSdkToolOutput
  providerOptions?: AiSdkProviderOptions
}

/** A tool as it is offered. */
export interface AiSdkTool {
  type: 'function'
  name: string
  description?: string
  inputSchema: AiSdkSchema
}

/** A finish reason: a word in V2, an object since V3. */
export type AiSdkFinish = string | { readonly unified: string; readonly raw?: string | undefined }

/** Token counts: plain numbers in V2, broken down since V3. */
export interface AiSdkUsage {
  readonly inputTokens:
    | number
    | undefined
    | {
        readonly total: number | undefined
        readonly cacheRead: number | undefined
        readonly cacheWrite?: number | undefined
      }
  readonly outputTokens:
    | number
    | undefined
    | { readonly total: number | undefined; readonly reasoning: number | undefined }
  readonly reasoningTokens?: number | undefined
  readonly cachedInputTokens?: number | undefined
}

/** What a provider's package could not do as it was asked, in the words of any specification. */
export interface AiSdkWarning {
  readonly type: string
  readonly feature?: string
  readonly setting?: unknown
  readonly message?: string
  readonly details?: string | undefined
}

/** What a plain call returns. */
export interface AiSdkResult {
  readonly content: readonly AiSdkPart[]
  readonly finishReason: AiSdkFinish
  readonly usage: AiSdkUsage
  readonly structuredOutputText?: string
  readonly warnings?: readonly AiSdkWarning[]
  readonly response?: { readonly modelId?: string }
  readonly providerMetadata?: object | undefined
}

/** Any content or stream part; which fields it has depends on its type. */
export interface AiSdkPart {
  readonly type: string
  readonly id?: string
  readonly text?: string
  readonly delta?: string
  readonly kind?: string
  readonly toolCallId?: string
  readonly toolName?: string
  readonly input?: unknown
  readonly result?: unknown
  readonly isError?: boolean
  readonly warnings?: readonly AiSdkWarning[]
  readonly providerExecuted?: boolean
  readonly providerMetadata?: object | undefined
  readonly modelId?: string
  readonly finishReason?: AiSdkFinish
  readonly usage?: AiSdkUsage
  readonly error?: unknown
}

/** The part of a web stream that is needed to read it. */
export interface AiSdkStream {
  getReader(): {
    read(): Promise<{ readonly done: boolean; readonly value?: AiSdkPart | undefined }>
    cancel(reason?: unknown): Promise<void>
  }
}
