/** Reads fields of an event's content, which the contract leaves open for newer servers. */

type Content = Readonly<Record<string, unknown>>

/** The field as text, `''` where there is none. */
export function textOf(content: Content, name: string): string {
  const value = content[name]
  return typeof value === 'string' ? value : ''
}

/** The field as a list of texts; anything else in it is left out. */
export function textsOf(content: Content, name: string): string[] {
  const value = content[name]
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []
}

/** Whether a value is an object that is no list. */
export function isRecord(value: unknown): value is Content {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
