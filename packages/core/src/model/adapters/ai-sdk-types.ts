/** The part of the AI SDK's language models that we use, written as structure: specifications V2, V3 and V4 all fit it. */

/** A language model of any AI SDK provider, such as `openai('gpt-5')`. */
export interface AiSdkLanguageModel {
  readonly specificationVersion: 'v2' | 'v3' | 'v4'
  readonly provider: string
  readonly modelId: string
  doGenerate(options: AiSdkCall): PromiseLike<AiSdkResult>
  doStream(options: AiSdkCall): PromiseLike<{ readonly stream: AiSdkStream }>
}

/** What a call is given. Only what a `ModelRequest` can say. */
export interface AiSdkCall {
  prompt: AiSdkMessage[]
  abortSignal: AbortSignal
  tools?: AiSdkTool[]
  toolChoice?: { type: 'auto' } | { type: 'required' } | { type: 'none' }
  temperature?: number
  /** Known since V4. */
  reasoning?: 'none' | 'minimal' | 'low' | 'medium' | 'high'
  responseFormat?: { type: 'json'; schema: AiSdkSchema; name: string }
}

// The providers type a schema by its known keywords; for us it is any JSON object. `object` fits both.
type AiSdkSchema = object

/** A message of a prompt. */
export type AiSdkMessage =
  | { role: 'system'; content: string }
  | { role: 'user'; content: AiSdkText[] }
  | { role: 'assistant'; content: (AiSdkText | AiSdkToolCall)[] }
  | { role: 'tool'; content: AiSdkToolResult[] }

/** Text in a prompt. */
export interface AiSdkText {
  type: 'text'
  text: string
}

/** A tool call in a prompt; `input` is parsed. */
export interface AiSdkToolCall {
  type: 'tool-call'
  toolCallId: string
  toolName: string
  input: unknown
}

/** A tool result in a prompt. */
export interface AiSdkToolResult {
  type: 'tool-result'
  toolCallId: string
  toolName: string
  output: { type: 'text'; value: string }
}

/** A tool as it is offered. */
export interface AiSdkTool {
  type: 'function'
  name: string
  description?: string
  inputSchema: AiSdkSchema
}

/** A finish reason: a word in V2, an object since V3. */
export type AiSdkFinish = string | { readonly unified: string }

/** Token counts: plain numbers in V2, broken down since V3. */
export interface AiSdkUsage {
  readonly inputTokens:
    | number
    | undefined
    | { readonly total: number | undefined; readonly cacheRead: number | undefined }
  readonly outputTokens:
    | number
    | undefined
    | { readonly total: number | undefined; readonly reasoning: number | undefined }
  readonly reasoningTokens?: number | undefined
  readonly cachedInputTokens?: number | undefined
}

/** What a plain call returns. */
export interface AiSdkResult {
  readonly content: readonly AiSdkPart[]
  readonly finishReason: AiSdkFinish
  readonly usage: AiSdkUsage
  readonly structuredOutputText?: string
  readonly response?: { readonly modelId?: string }
}

/** Any content or stream part; which fields it has depends on its type. */
export interface AiSdkPart {
  readonly type: string
  readonly text?: string
  readonly delta?: string
  readonly toolCallId?: string
  readonly toolName?: string
  readonly input?: unknown
  readonly providerExecuted?: boolean
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
