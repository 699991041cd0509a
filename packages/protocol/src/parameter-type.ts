/** The types of parameters, and reserved names. */

/** The types a parameter may have; `any` is any of the others, never an object [Rb15]. */
export const parameterTypes = [
  'string',
  'number',
  'boolean',
  'null',
  'string[]',
  'number[]',
  'boolean[]',
  'any',
] as const
export type ParameterType = (typeof parameterTypes)[number]

/** A value that a parameter may hold. */
export type ParameterValue =
  | string
  | number
  | boolean
  | null
  | readonly string[]
  | readonly number[]
  | readonly boolean[]

/** Reserved names: they have a meaning in a tool's arguments or in JavaScript. */
export const reservedParameterNames: ReadonlySet<string> = new Set([
  'message',
  'blocking',
  'model',
  'temperature',
  'request',
  'task_id',
  '__proto__',
  'constructor',
  'prototype',
  'hasOwnProperty',
  'toString',
  'valueOf',
])

/** Whether `value` fits `type`. An empty array fits any array type; nested and mixed arrays and objects fit none [Rb15]. */
export function fitsType(type: ParameterType, value: unknown): value is ParameterValue {
  if (type === 'any') return anyOf.some((allowed) => fitsType(allowed, value))
  if (type === 'null') return value === null
  if (type === 'number') return typeof value === 'number' && Number.isFinite(value)
  if (type === 'string' || type === 'boolean') return typeof value === type
  const item = type.slice(0, -2) as ParameterType
  return Array.isArray(value) && value.every((one) => fitsType(item, one))
}

const anyOf = parameterTypes.filter((type) => type !== 'any')

/** The JSON Schema of a parameter's type, as a model sees it. */
export function typeToJsonSchema(type: ParameterType): Record<string, unknown> {
  if (type === 'any') {
    const one = ['string', 'number', 'boolean']
    return { type: [...one, 'null', 'array'], items: { type: one } }
  }
  if (type.endsWith('[]')) return { type: 'array', items: { type: type.slice(0, -2) } }
  return { type }
}
