/** Marks values that have passed a schema, or were parsed from JSON, so that the next layer need not check or copy them again. */
import type { z } from 'zod'

const passed = new WeakMap<object, z.ZodType>()

/** Records that `schema` returned this value. Nothing may change the value afterwards. */
export function markChecked<Value>(schema: z.ZodType, value: Value): Value {
  if (typeof value === 'object' && value !== null) passed.set(value, schema)
  return value
}

/** True if `schema` returned this very object. */
export function isChecked<Schema extends z.ZodType>(schema: Schema, value: unknown): value is z.output<Schema> {
  return typeof value === 'object' && value !== null && passed.get(value) === schema
}

const parsed = new WeakSet<object>()

/** Records that this value was parsed from JSON that nests no deeper than it may, and that nobody else has it. */
export function markParsed<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null) parsed.add(value)
  return value
}

/** True for this very object, if it was parsed from JSON. */
export function isParsed(value: unknown): boolean {
  return typeof value === 'object' && value !== null && parsed.has(value)
}
