/** What a client and a played model say to each other: requests as they arrived, and what is answered. */
import type { IncomingHttpHeaders } from 'node:http'

interface WireToolCall {
  id: string
  type: string
  function: { name: string; arguments: string }
}

export interface WireMessage {
  role: string
  content?: string | { type: string; text?: string }[] | null
  tool_calls?: WireToolCall[]
  tool_call_id?: string
}

interface WireTool {
  type: string
  function: { name: string; description?: string; parameters?: JsonSchema }
}

export interface JsonSchema {
  type?: string
  properties?: Record<string, unknown>
  required?: string[]
}

export interface ChatRequest {
  model: string
  messages: WireMessage[]
  tools?: WireTool[]
  tool_choice?: unknown
  response_format?: { type: string; json_schema?: { schema?: unknown } }
  stream?: boolean
  stream_options?: { include_usage?: boolean }
}

/** One request as it arrived: `raw` is the body's text exactly, `aborted` says that the caller hung up first. */
export interface Seen {
  model: string
  nth: number
  raw: string
  body: ChatRequest
  headers: IncomingHttpHeaders
  aborted: boolean
}

export interface CallOut {
  name: string
  args?: unknown
  rawArgs?: string
}

/** What the played model answers, and how it misbehaves. Tokens: 10 in and 5 out unless said; `usage: null` sends none. */
export interface Reply {
  text?: string
  /** Sent before the text, in the field `reasoning_content`. */
  reasoning?: string
  calls?: CallOut[]
  usage?: { input: number; output: number; cached?: number; reasoning?: number } | null
  plain?: boolean
  pieces?: number
  status?: number
  cutAfter?: number
  holdAfter?: number
  hold?: Gate
  delayMs?: number
}

/** A door that a reply waits at: `entered` settles when a request stands before it, `open` lets everything through. */
export interface Gate {
  entered: Promise<void>
  opened: Promise<void>
  enter(): void
  open(): void
}
