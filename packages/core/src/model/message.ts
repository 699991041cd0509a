/** What a model reads: messages in the neutral form that every adapter translates. */
import type { KeptParts } from '@witan/protocol/entries'

/** A tool call as a model wrote it. `arguments` is the raw text; it may be no JSON at all. */
export interface ModelToolCall {
  readonly id: string
  readonly name: string
  readonly arguments: string
}

/** One message. After the system message `user` and `assistant` alternate strictly; tool results answer their calls [T11]. */
export type ModelMessage =
  | { readonly role: 'system'; readonly content: string }
  | { readonly role: 'user'; readonly content: string }
  | AssistantMessage
  | { readonly role: 'tool'; readonly toolCallId: string; readonly name: string; readonly content: string }

/** A reply of the model that reads it. `kept` is what its adapter left there: one that did not write it ignores it. */
export interface AssistantMessage {
  readonly role: 'assistant'
  readonly content: string
  readonly toolCalls?: readonly ModelToolCall[]
  readonly kept?: KeptParts
}
