/** Freezes plain data that several hold, so that none of them changes what the others have; or copies it for one. */
import type { Pausable } from './pausable.ts'

/**
 * The value itself, with all that it holds. What is frozen already is taken as frozen whole, so that a value that goes out often is walked
 * once. For plain JSON, which is never deep; never for a value of the host program, which is copied when it comes in.
 */
export function frozen<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  Object.freeze(value)
  for (const inner of Object.values(value)) if (typeof inner === 'object') frozen(inner)
  return value
}

/** Values between two pauses: freezing them takes less than a millisecond. */
const pieceValues = 2_000

/** Freezes a value as `frozen` does, in pieces. Until it is done nobody else may have the value. */
export function* freezing<Value>(value: Value): Pausable<Value> {
  const open: unknown[] = [value]
  let looked = 0
  for (let one = open.pop(); one !== undefined; one = open.pop()) {
    if (typeof one !== 'object' || one === null || Object.isFrozen(one)) continue
    Object.freeze(one)
    for (const inner of Object.values(one)) {
      if (typeof inner === 'object' && inner !== null) open.push(inner)
      looked += 1
      if (looked % pieceValues === 0) yield
    }
  }
  return value
}

/**
 * A copy for one holder to work with: its own objects and lists. Other values, such as a date that a schema made of a text, are passed
 * as they are.
 */
export function ownCopy<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(ownCopy) as Value
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) return value
  const copy = { ...value }
  for (const name in copy) if (typeof copy[name] === 'object') copy[name] = ownCopy(copy[name])
  return copy
}
