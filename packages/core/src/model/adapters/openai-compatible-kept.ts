/** What a chat completion says beside text and calls, and wants back: thoughts, and what a server notes at a call. */
import type { KeptParts } from '@witan/protocol/entries'
import { jsonLength } from '../../identity/json-length.ts'
import type { AssistantMessage } from '../message.ts'

type Json = Readonly<Record<string, unknown>>
type Detail = Record<string, unknown>

/** The fields of a message that hold thoughts, as they came. */
export interface Thoughts {
  reasoning_content?: string
  reasoning?: string
  reasoning_details?: Detail[]
}

/** As it stands in the log. */
interface Parts {
  readonly message?: Thoughts
  /** By the ids of the calls. */
  readonly calls?: readonly (readonly [id: string, extra: unknown])[]
}

/** What a message gets back: fields of its own, and of each call. */
interface Returned {
  readonly message: Thoughts
  readonly extraOf: ReadonlyMap<string, unknown>
}

/** What people can read of the thoughts in a delta or a message. Some servers send the same words in several fields. */
export function readableIn({ reasoning_content: content, reasoning, reasoning_details: details }: Json): string {
  if (typeof content === 'string' && content !== '') return content
  if (typeof reasoning === 'string' && reasoning !== '') return reasoning
  if (!Array.isArray(details)) return ''
  let words = ''
  for (const piece of details) {
    if (!isObject(piece)) continue
    const { text, summary } = piece
    words += typeof text === 'string' ? text : typeof summary === 'string' ? summary : ''
  }
  return words
}

/** Takes in a delta or a whole message; pieces of a stream are put together. Returns about how many characters longer their JSON is. */
export function addThoughts(thoughts: Thoughts, said: Json): number {
  const { reasoning_content: content, reasoning, reasoning_details: details } = said
  let length = 0
  if (typeof content === 'string') {
    thoughts.reasoning_content = (thoughts.reasoning_content ?? '') + content
    length += content.length
  }
  if (typeof reasoning === 'string') {
    thoughts.reasoning = (thoughts.reasoning ?? '') + reasoning
    length += reasoning.length
  }
  if (!Array.isArray(details)) return length
  thoughts.reasoning_details ??= []
  for (const piece of details) if (isObject(piece)) length += addDetail(thoughts.reasoning_details, piece)
  return length
}

/** A signature covers the complete text: its pieces, which share an index, must be sent back as one. Sealed parts arrive complete. */
function addDetail(details: Detail[], piece: Detail): number {
  const last = details.at(-1)
  const goesOn =
    last !== undefined &&
    typeof piece.index === 'number' &&
    piece.index === last.index &&
    piece.type === last.type &&
    piece.data === undefined
  if (goesOn) return join(last, piece)
  details.push(piece)
  return jsonLength(piece)
}

/** What a key that only a later piece has counts for: a detail has a few keys, and one with very many takes long to write and to read. */
const newKeyLength = 200

/** In place: a copy for each piece takes minutes where a server sends thousands of them. */
function join(whole: Detail, next: Detail): number {
  let length = 0
  for (const [key, value] of Object.entries(next)) {
    if (value === null || value === undefined || key === '__proto__') continue
    const before = whole[key]
    const isWritten = (key === 'text' || key === 'summary') && typeof before === 'string' && typeof value === 'string'
    if (isWritten) length += value.length
    else if (before === undefined) length += newKeyLength + key.length + jsonLength(value)
    whole[key] = isWritten ? before + value : value
  }
  return length
}

/**
 * The parts of a reply to keep; undefined if there are none, or the model does not accept them back. Thoughts are null where they are too long:
 * then there are parts, and none of them can be stored.
 */
export function keptOf(
  thoughts: Thoughts | null,
  { by, extras }: { readonly by: string; readonly extras: ReadonlyMap<string, unknown> },
): KeptParts | undefined {
  if (by === '') return undefined
  if (thoughts === null) return { by, parts: null }
  const isThought = Object.values(thoughts).some((said) => said.length > 0)
  if (!isThought && extras.size === 0) return undefined
  const parts: Parts = {
    ...(isThought ? { message: thoughts } : {}),
    ...(extras.size > 0 ? { calls: [...extras] } : {}),
  }
  return { by, parts }
}

/** What a message of this model gets back; null where there is nothing, or its calls are not those any more. */
export function returnedWith({ kept, toolCalls = [] }: AssistantMessage, by: string): Returned | null {
  if (kept === undefined || kept.by !== by || !isObject(kept.parts)) return null
  const { message, calls } = kept.parts
  const extraOf = new Map(Array.isArray(calls) ? calls.filter(isExtra) : [])
  for (const id of extraOf.keys()) if (!toolCalls.some((call) => call.id === id)) return null
  return { message: thoughtsIn(isObject(message) ? message : {}), extraOf }
}

function thoughtsIn({ reasoning_content: content, reasoning, reasoning_details: details }: Json): Thoughts {
  return {
    ...(typeof content === 'string' ? { reasoning_content: content } : {}),
    ...(typeof reasoning === 'string' ? { reasoning } : {}),
    ...(Array.isArray(details) ? { reasoning_details: details } : {}),
  }
}

function isExtra(one: unknown): one is [string, unknown] {
  return Array.isArray(one) && one.length === 2 && typeof one[0] === 'string'
}

/** Whether a server refused a request because of the thoughts in it: some refuse every field that they do not know. */
export function refusesThoughts({ status, message }: { readonly status: number | null; readonly message: string }) {
  if (status !== 400 && status !== 422) return false
  const isNamed = /reasoning(_content|_details)?\b|extra_content/.test(message)
  const isUnknown =
    /unsupported|not supported|unknown|unexpected|unrecognized|extra (fields|inputs)|not (permitted|allowed)/i
  return isNamed && isUnknown.test(message) && !/passed back|missing/i.test(message)
}

/** What a server may want with each reply, be it one that had none or one of another model: DeepSeek V4 thoughts, Gemini 3 signatures. */
export type Wanted = 'thoughts' | 'signatures'

/** Why a server refused a request in which they are missing; null for any other reason. */
export function wantedBy({ status, message }: { readonly status: number | null; readonly message: string }) {
  const isMissing = (status === 400 || status === 422) && /passed back|missing|required/i.test(message)
  if (isMissing && /reasoning_content/.test(message)) return 'thoughts'
  return isMissing && /thought_signature/.test(message) ? 'signatures' : null
}

function isObject(value: unknown): value is Detail {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
