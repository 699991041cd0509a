/** The box that keeps a bound value out of every serializer, inspector and template [D15]. */
import type { ParameterValue } from '@witan/protocol'

const shown = '[bound value]'

/** The value as nobody can change it any more: an array is copied and frozen, so that no tool, caller or reader who holds it changes what others are bound to. */
export function lasting(value: ParameterValue): ParameterValue {
  return Array.isArray(value) && !Object.isFrozen(value) ? Object.freeze([...value]) : value
}

/** Holds one value. Printing, inspecting, spreading or serialising the box shows a placeholder; only `reveal` opens it. */
export class Boxed {
  readonly #value: ParameterValue

  constructor(value: ParameterValue) {
    this.#value = lasting(value)
    Object.freeze(this)
  }

  /** The value itself, an array frozen: for executors, for the document key, and for a view whose gates are open. */
  reveal(): ParameterValue {
    return this.#value
  }

  toJSON(): string {
    return shown
  }

  toString(): string {
    return shown
  }

  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return shown
  }
}
