/** Reads values of events with checks at run time: the types describe this version, and the server may have another. */

/** The value if it is text, else `''`. */
export function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** The value if it is a number, else null. */
export function number(value: unknown): number | null {
  return typeof value === 'number' ? value : null
}

/** The texts of a list; anything else in it is left out. */
export function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []
}

/** The objects of a list; anything else in it is left out. */
export function records(value: unknown): Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) ? value.filter(isRecord) : []
}

/** Whether a value is an object that is no list. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
