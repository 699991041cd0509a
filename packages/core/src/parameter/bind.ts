/** Binds the parameters of a child along an edge [R30]. */
import type { Parameter, ParameterValue } from '@witan/protocol'
import { fitsType } from '@witan/protocol/schemas'
import { Boxed } from './hidden.ts'
import type { Bound, BoundValue, ConversationValues } from './parameter.ts'

/** Maps a child's parameter to the parent's name, or to `null` if neither parent nor conversation binds it [E17]. */
type NameMap = Readonly<Record<string, string | null>>

/** What a call inherits: its parent's bound values and the conversation's. A root has no parent. */
interface Inheritance {
  readonly parent: Bound | null
  readonly conversationValues: ConversationValues
  readonly map: NameMap
}

/** The values bound without a model, the parameters that a model must supply, and those that nobody can supply. */
export interface Binding {
  readonly bound: Bound
  /** Parameters that the calling model supplies in the tool's schema. */
  readonly generate: readonly Parameter[]
  /** Trusted parameters without a value from a caller or author [R41]. */
  readonly missing: readonly Parameter[]
}

/**
 * Binds a child's declared parameters: to the parent's value of that name, else to the conversation's. Otherwise the
 * calling model must supply it, unless generation is forbidden. Such a parameter refuses a value from any model, at any
 * ancestor [R30, R41, E15].
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

/** The binding of an agent without parameters; shared, since most agents have none. */
const nothing: Binding = { bound: new Map(), generate: [], missing: [] }

function inherit(parameter: Parameter, from: Inheritance): BoundValue | null {
  const mapped = Object.hasOwn(from.map, parameter.name) ? from.map[parameter.name] : parameter.name
  if (mapped === null || mapped === undefined) return null
  const parents = from.parent?.get(mapped)
  if (parents !== undefined && acceptable(parameter, parents.origin, parents.box.reveal())) {
    return { box: parents.box, origin: parents.origin, hidden: parents.hidden, from: 'parent' }
  }
  const given = from.conversationValues.get(mapped)
  if (given === undefined || !acceptable(parameter, 'caller', given.value)) return null
  return { box: new Boxed(given.value), origin: 'caller', hidden: given.hidden, from: 'conversation' }
}

function acceptable(parameter: Parameter, origin: BoundValue['origin'], value: ParameterValue): boolean {
  if (origin === 'model' && parameter.policy === 'forbidModelGeneration') return false
  return fitsType(parameter.type, value)
}

/** Adds the values that the calling model supplied. The tool's schema has already checked them. */
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

/** The key of an agent's document on a path: its bound values. Values that the calling model supplied do not count [C7]. */
export function documentKey(path: string, bound: Bound): string {
  if (bound.size === 0) return path
  const counted = [...bound]
    .filter(([, value]) => value.from !== 'model')
    .map(([name, value]) => [name, value.box.reveal()])
  return counted.length === 0
    ? path
    : `${path} ${JSON.stringify(counted.sort(([a], [b]) => (String(a) < String(b) ? -1 : 1)))}`
}

/** True if two calls have the same values, whatever their origin. */
export function sameValues(one: Bound, other: Bound): boolean {
  const written = (bound: Bound, name: string) => JSON.stringify(bound.get(name)?.box.reveal())
  return one.size === other.size && [...one.keys()].every((name) => written(one, name) === written(other, name))
}
