/** What a model reads: messages in the neutral form that every adapter translates. */
import type { FileReference } from '@witan/protocol/files'
import type { KeptParts } from '@witan/protocol/entries'

/** A tool call as a model wrote it. `arguments` is the raw text; it may be no JSON at all. */
export interface ModelToolCall {
  readonly id: string
  readonly name: string
  readonly arguments: string
}

/** One message. After the system message `user` and `assistant` alternate strictly; tool results answer their calls [T09, T11]. */
export type ModelMessage =
  | { readonly role: 'system'; readonly content: string }
  | UserTextMessage
  | AssistantMessage
  | ToolResponseMessage

/**
 * What anybody but the model that reads it has said: a person, another agent, or the runtime [T10]. The content mentions each file that
 * is attached; only an adapter that gets `files` sends their bytes [Rb53].
 */
export interface UserTextMessage {
  readonly role: 'user'
  readonly content: string
  /** The files of the message as the log refers to them. An adapter ignores them. */
  readonly attached?: readonly FileReference[]
  /** The files that the model takes, loaded for this call. */
  readonly files?: readonly ModelFile[]
}

/** A file with its content, as base64. */
export interface ModelFile {
  readonly name: string | null
  readonly mediaType: string
  readonly data: string
}

/** A reply of the model that reads it. `kept` is what its adapter left there; an adapter that did not write it ignores it. */
export type AssistantMessage = ModelTextMessage | ModelToolCallMessage

/** A reply in text. */
interface ModelTextMessage {
  readonly role: 'assistant'
  readonly content: string
  readonly toolCalls?: undefined
  readonly kept?: KeptParts
}

/** A reply that calls tools, with the text before them, which may be empty. */
interface ModelToolCallMessage {
  readonly role: 'assistant'
  readonly content: string
  readonly toolCalls: readonly ModelToolCall[]
  readonly kept?: KeptParts
}

/** What a tool call came to. An error is JSON of the form `{"error":"…"}`. */
interface ToolResponseMessage {
  readonly role: 'tool'
  readonly toolCallId: string
  readonly name: string
  readonly content: string
}

/** The four kinds of message beside the system message, by name [T09]. */
export interface MessageKinds {
  readonly userText: UserTextMessage
  readonly modelText: ModelTextMessage
  readonly modelToolCall: ModelToolCallMessage
  readonly toolResponse: ToolResponseMessage
}
