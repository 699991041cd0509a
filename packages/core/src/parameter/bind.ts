/** How a child's parameters get their values on the way down an edge [R30]. */
import type { Parameter, ParameterValue } from '@witan/protocol'
import { fitsType } from '@witan/protocol/schemas'
import { Boxed } from './hidden.ts'
import type { Bound, BoundValue, GivenParameters } from './parameter.ts'

/** Names of an edge: child's name to parent's, or to `null` where neither parent nor conversation binds it [E17]. */
export type NameMap = Readonly<Record<string, string | null>>

/** What a call inherits from: its parent's bound values and the conversation's. A root has no parent. */
export interface Inheritance {
  readonly parent: Bound | null
  readonly given: GivenParameters
  readonly map: NameMap
}

/** What can be bound without a model, what a model must supply, and what nobody may. */
export interface Binding {
  readonly bound: Bound
  /** Parameters that the calling model supplies in the tool's schema. */
  readonly generate: readonly Parameter[]
  /** Trusted parameters without a value that a caller or author made [R41]. */
  readonly missing: readonly Parameter[]
}

/**
 * Binds a child's declared parameters: the parent's value of that name, else the conversation's, else the calling model is
 * asked, unless generation is forbidden. A forbidden one refuses a value that any model made, at whatever ancestor [R30, R41, E15].
 */
export function bind(declared: readonly Parameter[], from: Inheritance): Binding {
  if (declared.length === 0) return nothing
  const bound = new Map<string, BoundValue>()
  const generate: Parameter[] = []
  const missing: Parameter[] = []
  for (const parameter of declared) {
    const value = inherit(parameter, from)
    if (value !== null) bound.set(parameter.name, value)
    else (parameter.policy === 'forbidModelGeneration' ? missing : generate).push(parameter)
  }
  return { bound, generate, missing }
}

/** Of an agent that declares nothing; shared, as most are. */
const nothing: Binding = { bound: new Map(), generate: [], missing: [] }

function inherit(parameter: Parameter, from: Inheritance): BoundValue | null {
  const mapped = Object.hasOwn(from.map, parameter.name) ? from.map[parameter.name] : parameter.name
  if (mapped === null || mapped === undefined) return null
  const parents = from.parent?.get(mapped)
  if (parents !== undefined && acceptable(parameter, parents.origin, parents.box.reveal())) {
    return { box: parents.box, origin: parents.origin, hidden: parents.hidden, from: 'parent' }
  }
  const given = from.given.get(mapped)
  if (given === undefined || !acceptable(parameter, 'caller', given.value)) return null
  return { box: new Boxed(given.value), origin: 'caller', hidden: given.hidden, from: 'conversation' }
}

function acceptable(parameter: Parameter, origin: BoundValue['origin'], value: ParameterValue): boolean {
  if (origin === 'model' && parameter.policy === 'forbidModelGeneration') return false
  return fitsType(parameter.type, value)
}

/** Adds what the calling model supplied. Values are checked by the tool's schema before. */
export function withGenerated(binding: Binding, generated: Readonly<Record<string, unknown>> | null): Bound {
  if (generated === null || binding.generate.length === 0) return binding.bound
  const bound = new Map(binding.bound)
  for (const parameter of binding.generate) {
    const value = generated[parameter.name]
    if (!Object.hasOwn(generated, parameter.name) || !fitsType(parameter.type, value)) continue
    bound.set(parameter.name, { box: new Boxed(value), origin: 'model', hidden: false, from: 'model' })
  }
  return bound
}

/** What tells one document of an agent from another on the same path: its bound values; what the calling model supplied does not count [C7]. */
export function documentKey(path: string, bound: Bound): string {
  const counted = [...bound]
    .filter(([, value]) => value.from !== 'model')
    .map(([name, value]) => [name, value.box.reveal()])
  return counted.length === 0
    ? path
    : `${path} ${JSON.stringify(counted.sort(([a], [b]) => (String(a) < String(b) ? -1 : 1)))}`
}

/** Whether two calls have the same values, whoever made them. */
export function sameValues(one: Bound, other: Bound): boolean {
  const written = (bound: Bound, name: string) => JSON.stringify(bound.get(name)?.box.reveal())
  return one.size === other.size && [...one.keys()].every((name) => written(one, name) === written(other, name))
}
