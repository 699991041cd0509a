/** Marks values that have passed a schema, so that the next layer need not validate them again. */
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
