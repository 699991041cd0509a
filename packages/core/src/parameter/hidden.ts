/** A wrapper that keeps a bound value out of every serializer, inspector and template [D15]. */
import type { ParameterValue } from '@witan/protocol'

const shown = '[bound value]'

/** The value in an immutable form. An array is copied and frozen, so that no holder can change the bindings of others. */
export function lasting(value: ParameterValue): ParameterValue {
  return Array.isArray(value) && !Object.isFrozen(value) ? Object.freeze([...value]) : value
}

/** Holds one value. Printing, inspecting, spreading or serialising it shows a placeholder; only `reveal` returns the value. */
export class Boxed {
  readonly #value: ParameterValue

  constructor(value: ParameterValue) {
    this.#value = lasting(value)
    Object.freeze(this)
  }

  /** The value itself; an array is frozen. For executors, for the document key, and for views that may show it. */
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
