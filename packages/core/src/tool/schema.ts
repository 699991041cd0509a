/** JSON Schemas of tools: what the model must supply, without the names bound for it. */
import { validatorOf } from '../model/json-schema.ts'
import { describesName, namesOf } from './schema-names.ts'
import type { ArgumentCheck } from './tool.ts'

/** A JSON Schema of type object, as data. */
export type JsonSchema = Readonly<Record<string, unknown>>

/** The schema of a tool without arguments. */
export const noArguments: JsonSchema = Object.freeze({ type: 'object', properties: {}, additionalProperties: false })

/** The argument names that a schema lists, also in the schemas that it refers to or combines. */
export function propertyNames(schema: JsonSchema): readonly string[] {
  return [...namesOf(schema).listed]
}

/** Whether a schema takes an argument of this name: it lists it, or it takes names that it does not list. */
export function takesName(schema: JsonSchema, name: string): boolean {
  const { listed, isOpen } = namesOf(schema)
  return isOpen || listed.has(name)
}

/** The bound values that a schema describes. The executor gets them in addition to the model's arguments. */
export function boundArguments(
  schema: JsonSchema,
  values: ReadonlyMap<string, { readonly box: { reveal(): unknown } }>,
): Record<string, unknown> {
  const bound: Record<string, unknown> = {}
  for (const [name, value] of values) if (describesName(schema, name)) bound[name] = value.box.reveal()
  return bound
}

/**
 * The bound name that a reader would take `name` for. Spellings count as equal if they differ in case, compatibility forms,
 * zero-width characters or lookalike letters.
 */
export function boundSpelling(bound: readonly string[], name: string): string | undefined {
  return bound.length === 0 ? undefined : plainNames(bound).get(plainSpelling(name))
}

const plainOf = new WeakMap<readonly string[], ReadonlyMap<string, string>>()

/** Bound names by their plain spelling: a call may have very many arguments, and each is looked up. */
function plainNames(bound: readonly string[]): ReadonlyMap<string, string> {
  const known = plainOf.get(bound)
  if (known !== undefined) return known
  // The first of two that look alike counts.
  const made = new Map([...bound].reverse().map((one) => [plainSpelling(one), one]))
  plainOf.set(bound, made)
  return made
}

function plainSpelling(name: string): string {
  // Letters of ASCII look like no other.
  if (/^[\0-\x7f]*$/.test(name)) return name.toLowerCase()
  return name
    .normalize('NFKC')
    .replace(/\p{Cf}/gu, '')
    .toLowerCase()
    .replace(/[\u0370-\u052f\u0131]/gu, (letter) => lookalikes.get(letter) ?? letter)
}

/** Greek and Cyrillic letters, small or capital, that look like Latin ones; and the dotless i. */
const lookalikes = new Map(
  'aαа bβв cс dԁ eεе gԍ hηнһ iιіı jј kκк lӏ mμм nνп oοо pρр qԛ rг sѕ tτт uυ vѵ wԝω xχх yу zζ'
    .split(' ')
    .flatMap(([latin = '', ...letters]) => letters.map((letter) => [letter, latin] as const)),
)

/** Of a definition whose callers choose which values they give, no more sets of bound names are kept than this. */
const mostBindings = 64

/** Computes something once per agent definition and set of bound names. */
export function perBinding<Key extends object, Made>(
  make: (key: Key, bound: ReadonlySet<string>) => Made,
): (key: Key, bound: Iterable<string>) => Made {
  const cache = new WeakMap<Key, Map<string, Made>>()
  return (key, bound) => {
    const names = [...bound]
    const signature = names.join(' ')
    const known = cache.get(key) ?? new Map<string, Made>()
    cache.set(key, known)
    const found = known.get(signature)
    if (found !== undefined) return found
    const made = make(key, new Set(names))
    if (known.size >= mostBindings) known.clear()
    known.set(signature, made)
    return made
  }
}

/** Checks arguments against a JSON Schema. */
export function checkSchema(
  schema: Readonly<Record<string, unknown>>,
  args: Readonly<Record<string, unknown>>,
): ArgumentCheck {
  const issues = validatorOf(schema).issuesOf(args)
  return issues.length === 0 ? { ok: true, arguments: args } : refused(issues)
}

const mostIssues = 5
const longestIssue = 300

/**
 * The result for arguments that do not fit: the first 5 issues, each cut at 300 characters, since they may quote names that
 * a model made up.
 */
export function refused(issues: readonly string[]): ArgumentCheck & { readonly ok: false } {
  const cut = (issue: string) => (issue.length > longestIssue ? `${issue.slice(0, longestIssue - 1)}…` : issue)
  return { ok: false, issues: issues.slice(0, mostIssues).map((issue) => cut(issue).toWellFormed()) }
}
