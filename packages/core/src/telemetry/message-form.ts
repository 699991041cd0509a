/** How messages are written in attributes: as OpenTelemetry names their parts, or as chats that MLflow renders. */
import type { ContentWriter } from './content.ts'

/** A part of a message, as the GenAI conventions of OpenTelemetry have it. */
export type MessagePart =
  | { readonly type: 'text'; readonly content: string }
  | { readonly type: 'tool_call'; readonly id: string; readonly name: string; readonly arguments: unknown }
  | { readonly type: 'tool_call_response'; readonly id: string; readonly response: unknown }

/** A message that somebody said. */
interface SpokenMessage {
  readonly role: 'system' | 'user' | 'assistant' | 'tool'
  readonly parts: readonly MessagePart[]
  /** Set for the output of a model or an agent. */
  readonly finish_reason?: string
}

/** Writes a message as JSON values: one, or in a chat one for each response of a tool. */
export type MessageForm = (message: SpokenMessage) => readonly object[]

/** The form of OpenTelemetry. */
export const conventional: MessageForm = (message) => [message]

/** The form of a chat, which MLflow shows as one. */
export const chatty: MessageForm = ({ role, parts }) => {
  if (role === 'tool') return parts.flatMap(responseIn)
  const content = parts.flatMap((part) => (part.type === 'text' ? [part.content] : [])).join('\n\n')
  const calls = parts.flatMap(callIn)
  return [calls.length === 0 ? { role, content } : { role, content, tool_calls: calls }]
}

function responseIn(part: MessagePart): readonly object[] {
  if (part.type !== 'tool_call_response') return []
  const { id, response } = part
  return [{ role: 'tool', tool_call_id: id, content: written(response) }]
}

function callIn(part: MessagePart): readonly object[] {
  if (part.type !== 'tool_call') return []
  const { id, name } = part
  return [{ id, type: 'function', function: { name, arguments: written(part.arguments) } }]
}

function written(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? 'null')
}

/** Writes messages as JSON, in one form. */
export class MessageWriter {
  /** Whether messages are those of a chat, which begins with its instructions. */
  readonly isChat: boolean
  readonly #writer: ContentWriter
  readonly #form: MessageForm

  constructor(writer: ContentWriter, form: MessageForm) {
    this.#writer = writer
    this.#form = form
    this.isChat = form === chatty
  }

  /** A piece of what `list` joins. */
  piece(role: SpokenMessage['role'], parts: readonly MessagePart[]): string {
    return this.written({ role, parts })
  }

  written(message: SpokenMessage): string {
    const [first, ...more] = this.#form(message)
    if (first === undefined) return ''
    return more.reduce<string>((all, one) => `${all},${this.#writer.piece(one)}`, this.#writer.piece(first))
  }

  /** A list of pieces; where they are too long together, it says how many earlier ones are left out. */
  list(pieces: readonly string[]): string {
    const mark = (count: number) => this.piece('user', [{ type: 'text', content: `[cut: ${count} earlier messages]` }])
    return this.#writer.list(pieces, mark)
  }
}
