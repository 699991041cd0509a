/** The content of a document as it was said. Nothing is rendered or left out here; a view does both for each reader. */
import type { FileReference } from '@witan/protocol/files'
import type { KeptParts, LoggedToolCall } from '@witan/protocol/entries'
import { attributed, jsonForModel } from '../model/attribution.ts'
import type { People } from '../parameter/person.ts'
import type { Naming } from '../parameter/known-people.ts'
import type { Scrubber } from '../parameter/scrub.ts'

/** Words that somebody wrote into a document. */
export interface Words {
  readonly kind: 'words'
  /** Who says it, and to which agent. */
  readonly author: string
  readonly to: string
  readonly text: string
  /** Whether the text names its speakers already: the runtime wrote it, and marked what it quotes. */
  readonly isAttributed: boolean
  /** Whether hidden values are taken out. A person's words are read as they are [D15]. */
  readonly isScrubbed: boolean
  /** The scrubber of the call that reads it first. */
  readonly scrub: Scrubber
  /** Set for the words of a person: who was in the conversation then. */
  readonly people?: People
  /** Set for words that name their speaker, one of several people: the agent that they are addressed to [C6]. */
  readonly namedTo?: string
  /** Set for the words of a person: the seq of the message. */
  readonly seq?: number
  /** Set for words that one agent alone reads: its id. */
  readonly only?: string
  /** Files that came with them. The text mentions each, for readers that do not get them [Rb53]. */
  readonly files?: readonly FileReference[]
}

/** A reply of an agent's model. */
export interface Reply {
  readonly kind: 'reply'
  readonly agent: string
  /** Who asked: the calling agent, or `user` at the root. */
  readonly to: string
  readonly text: string
  readonly calls: readonly LoggedToolCall[]
  /** The scrubber of the call whose model replied. */
  readonly scrub: Scrubber
  /** Set if the agent may ask people: how it names them. */
  readonly asker?: { readonly naming: Naming; readonly people: People }
  /** What that model gets back with it, unless more is hidden from the model now than at that time. */
  readonly kept?: { readonly parts: KeptParts; readonly unseen: string }
}

/** The result of one tool call of a reply, as text. */
export interface SaidResult {
  readonly toolCallId: string
  readonly name: string
  readonly content: string
  /** The scrubber of the agent that gave it; null for a tool. */
  readonly scrub: Scrubber
  /** The people whose words it holds, by id; absent if there are none. */
  readonly by?: readonly string[]
}

/** What the tool calls of a reply came to, in call order. It stands right behind the reply. */
interface Results {
  readonly kind: 'results'
  readonly of: Reply
  readonly results: readonly SaidResult[]
}

/** One thing that was said. */
export type Said = Words | Reply | Results

/** What a model reads of a tool's value: text as it is, or else JSON. */
export function contentOf(value: unknown): string {
  return typeof value === 'string' ? value : jsonForModel(value)
}

/** A tool's result as a model reads it. A note follows an array that was cut. */
export function resultText({ result, truncated }: { readonly result: unknown; readonly truncated: boolean }): string {
  const rest = truncated && Array.isArray(result) ? [`first ${result.length} of more rows shown`] : []
  return contentOf(rest.length === 0 ? result : [...(result as unknown[]), ...rest])
}

/** What a model reads of a tool call beyond the first `admitted` of a reply. */
export function refusedResult(admitted: number): { readonly error: string } {
  return { error: `not run: one reply may call at most ${admitted} tools; ask for the rest in later replies.` }
}

/** Stands between tool results and words, where the model itself said nothing: strict servers take only a reply there [T11]. */
export const notedText = 'Noted.'

/** What the runtime says to an agent whose reply nobody asked for in words [T11]. */
export function goOnText(agent: string): string {
  return attributed('witan', agent, 'Go on.')
}
