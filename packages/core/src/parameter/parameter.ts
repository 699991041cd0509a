/** A bound parameter: a value, who made it, and whether the conversation hides it. */
import { type Parameter, type ParameterValue, WitanError } from '@witan/protocol'
import { fitsType } from '@witan/protocol/schemas'
import { type Boxed, lasting } from './hidden.ts'

/** Who made a value. It is kept along the whole way down [D14, E15]. */
export type Origin = 'caller' | 'author' | 'evidence' | 'model'

/** A value bound to a name. `hidden` is the conversation's gate [R37]; `from` says how this agent came by it. */
export interface BoundValue {
  readonly box: Boxed
  readonly origin: Origin
  readonly hidden: boolean
  readonly from: 'parent' | 'conversation' | 'model'
}

/** The bound parameters of one agent call, by name. */
export type Bound = ReadonlyMap<string, BoundValue>

/** What the caller gave at the conversation's start, by name. */
export interface Given {
  readonly value: ParameterValue
  readonly hidden: boolean
}
/** What a caller gave, by name. */
export type GivenParameters = ReadonlyMap<string, Given>

/** Reads what a caller sent: bare values, or `{ value, sendToModel }` [Rb16]. Names are checked elsewhere. */
export function readGiven(input: Readonly<Record<string, unknown>>): GivenParameters {
  const given = new Map<string, Given>()
  for (const [name, raw] of Object.entries(input)) given.set(name, readOne(name, raw))
  return given
}

function readOne(name: string, raw: unknown): Given {
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
        hint: 'Objects are no parameter values; send the fields as parameters of their own.',
      },
    )
  }
  return checked(name, box['value'], !sendToModel)
}

function checked(name: string, value: unknown, hidden: boolean): Given {
  if (fitsType('any', value)) return { value: lasting(value), hidden }
  throw new WitanError(
    'PARAM_TYPE',
    `\`${name}\` must be a string, a number, a boolean, null, or an array of one of the first three; got ${describe(value)}.`,
    {
      path: `parameters.${name}`,
      hint: 'Nested and mixed arrays and objects are no parameter values.',
    },
  )
}

/** The kind of a value in words, never the value. */
export function describe(value: unknown): string {
  if (value === null) return 'null'
  if (value === undefined) return 'nothing'
  if (Array.isArray(value)) return 'an array'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

/** Refuses a value given under `name` that does not fit a declaration of `agent` that takes it; the value itself is not echoed. */
export function checkGivenType(
  name: string,
  given: Given,
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
