/** Reads what the host program hands in once: a getter may say something else each time, and costs what it likes. */
import type { Pausable } from './pausable.ts'

/** Values between two pauses: reading them takes less than a millisecond. */
const pieceValues = 2_000

/**
 * A copy of objects and lists, in pieces. Each field is read once. What is no plain object or list, such as a function or a schema of a
 * library, stays what it is, and a value that stands in two places, or in itself, does so in the copy.
 */
export function* readingOnce<Value>(value: Value): Pausable<Value> {
  const copies = new Map<object, object>()
  const open: object[] = []
  const copied = (one: unknown): unknown => {
    if (!isPlain(one)) return one
    const known = copies.get(one)
    if (known !== undefined) return known
    const copy = Array.isArray(one) ? new Array(one.length) : {}
    copies.set(one, copy)
    open.push(one)
    return copy
  }
  const whole = copied(value) as Value
  let read = 0
  for (let one = open.pop(); one !== undefined; one = open.pop()) {
    const copy = copies.get(one) as object
    for (const key of Object.keys(one)) {
      read += 1
      if (read % pieceValues === 0) yield
      const field = copied((one as Readonly<Record<string, unknown>>)[key])
      Object.defineProperty(copy, key, { value: field, enumerable: true, configurable: true, writable: true })
    }
  }
  return whole
}

function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false
  if (Array.isArray(value)) return true
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
