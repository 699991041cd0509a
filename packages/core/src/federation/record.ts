/** Looks into JSON of which nothing is known. */

/** An object of JSON that is no list. */
export type JsonRecord = Readonly<Record<string, unknown>>

/** Whether a value is an object that is no list. */
export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A field of an object; undefined if there is none. What an object inherits is none of its fields. */
export function fieldOf(value: unknown, name: string): unknown {
  return isRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined
}

/** A field that is text; undefined for anything else. */
export function textIn(value: unknown, name: string): string | undefined {
  const field = fieldOf(value, name)
  return typeof field === 'string' ? field : undefined
}

/** The objects of a field that is a list. */
export function recordsIn(value: unknown, name: string): readonly JsonRecord[] {
  const field = fieldOf(value, name)
  return Array.isArray(field) ? field.filter(isRecord) : []
}
