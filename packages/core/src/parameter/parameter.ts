/** A bound parameter: a value, its origin, and whether the conversation hides it. */
import { type Parameter, type ParameterValue, WitanError } from '@witan/protocol'
import { isNumberAsText, numberAsText } from '@witan/protocol/digits'
import { fitsType } from '@witan/protocol/schemas'
import { type Boxed, lasting } from './hidden.ts'

/** The origin of a value, which stays the same along the edges [D14, E15]. */
type Origin = 'caller' | 'author' | 'evidence' | 'model'

/** A value bound to a name. `hidden` is the conversation's setting [R37]; `from` says how this agent got the value. */
export interface BoundValue {
  readonly box: Boxed
  readonly origin: Origin
  readonly hidden: boolean
  readonly from: 'parent' | 'conversation' | 'model'
}

/** The bound parameters of one agent call, by name. */
export type Bound = ReadonlyMap<string, BoundValue>

/** A value that the caller passed at the conversation's start. */
export interface ConversationValue {
  readonly value: ParameterValue
  readonly hidden: boolean
}
/** The values that a caller passed, by name. */
export type ConversationValues = ReadonlyMap<string, ConversationValue>

/** Reads the values that a caller sent: bare, or `{ value, sendToModel }` [Rb16]. Names are checked elsewhere. */
export function readConversationValues(input: Readonly<Record<string, unknown>>): ConversationValues {
  const given = new Map<string, ConversationValue>()
  for (const [name, raw] of Object.entries(input)) given.set(name, readOne(name, raw))
  return given
}

function readOne(name: string, raw: unknown): ConversationValue {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) return checked(name, raw, false)
  const box = raw as Record<string, unknown>
  const extra = Object.keys(box).filter((key) => key !== 'value' && key !== 'sendToModel')
  const sendToModel = box['sendToModel'] ?? true
  if (extra.length > 0 || !Object.hasOwn(box, 'value') || typeof sendToModel !== 'boolean') {
    throw new WitanError(
      'PARAM_TYPE',
      `\`${name}\` must be a value or { value, sendToModel }, not an object of its own.`,
      {
        path: `parameters.${name}`,
        hint: 'A parameter cannot be an object; send its fields as separate parameters.',
      },
    )
  }
  return checked(name, box['value'], !sendToModel)
}

function checked(name: string, value: unknown, hidden: boolean): ConversationValue {
  if (fitsType('any', value)) return { value: lasting(value), hidden }
  throw new WitanError(
    'PARAM_TYPE',
    `\`${name}\` must be a string, a number, a boolean, null, or an array of one of the first three; got ${describe(value)}.`,
    {
      path: `parameters.${name}`,
      hint: 'A parameter cannot be an object, or a nested or mixed array.',
    },
  )
}

/** The limit exists because every form of each hidden value is searched for in every text that a model reads. */
const mostHiddenCharacters = 100_000

/** Refuses hidden values that are too long together. The error does not contain the values. */
export function refuseLongHidden(hidden: Iterable<readonly [name: string, value: unknown]>): void {
  let length = 0
  for (const [name, value] of hidden) {
    for (const text of [value].flat()) length += String(text).length
    if (length <= mostHiddenCharacters) continue
    throw new WitanError(
      'PARAM_TYPE',
      `With \`${name}\`, the values hidden from models exceed ${mostHiddenCharacters} characters in total.`,
      {
        path: `parameters.${name}`,
        hint: 'Pass a reference, such as an id or an address, and let a tool read the content.',
      },
    )
  }
}

/** Describes the kind of a value, never the value. */
function describe(value: unknown): string {
  if (value === null) return 'null'
  if (value === undefined) return 'nothing'
  if (isNumberAsText(value)) return numberAsText
  if (Array.isArray(value)) return value.some(isNumberAsText) ? `an array with ${numberAsText}` : 'an array'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

/** Refuses a value passed under `name` that does not fit a declaration of `agent`. The error does not contain the value. */
export function checkValueType(
  name: string,
  given: ConversationValue,
  { agent, parameter }: { readonly agent: { readonly id: string }; readonly parameter: Parameter },
): void {
  if (fitsType(parameter.type, given.value)) return
  const declares = `declares \`${parameter.name}\` with type \`${parameter.type}\``
  throw new WitanError('PARAM_TYPE', `\`${name}\` must be ${article(parameter.type)}, got ${describe(given.value)}.`, {
    path: `parameters.${name}`,
    hint: `Agent \`${agent.id}\` ${parameter.name === name ? declares : `takes it by an edge, and ${declares}`}.`,
  })
}

function article(type: string): string {
  if (type === 'null') return 'null'
  if (type === 'any') return 'a simple value'
  return type.endsWith('[]') ? `an array of ${type.slice(0, -2)}` : `a ${type}`
}
