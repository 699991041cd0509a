/** Arguments of a server's tools that are named like parameters of an agent: without a binding nobody fills them in. */
import { boundSpelling, type JsonSchema } from '../schema.ts'
import { directNames, isSchema, sameValueSchemas } from '../schema-names.ts'
import { withoutBound } from '../without-bound.ts'
import { resolved } from '../../model/json-schema-look.ts'

/** A schema without such arguments; or the one that it requires, with the parameter of that name. */
type Unbound =
  | { readonly ok: true; readonly schema: JsonSchema }
  | { readonly ok: false; readonly argument: string; readonly parameter: string }

/**
 * Removes each argument that looks like one of these parameters, in any spelling, and that is not in `bound`. A server could otherwise name an argument
 * after a hidden parameter, and have a model fill it in.
 */
export function withoutUnbound(
  schema: JsonSchema,
  { parameters, bound }: { readonly parameters: readonly string[]; readonly bound: ReadonlySet<string> },
): Unbound {
  if (parameters.length === 0) return { ok: true, schema }
  const removed = new Map<string, string>()
  for (const name of argumentNames(schema)) {
    const parameter = bound.has(name) ? undefined : boundSpelling(parameters, name)
    if (parameter !== undefined) removed.set(name, parameter)
  }
  for (const [argument, parameter] of [...removed].sort(([one], [other]) => (one < other ? -1 : 1)))
    if (requires(schema, argument)) return { ok: false, argument, parameter }
  return { ok: true, schema: removed.size === 0 ? schema : withoutBound(schema, new Set(removed.keys())) }
}

/** The names of arguments that a schema has anywhere: listed, required, or in a condition. */
function argumentNames(schema: JsonSchema): ReadonlySet<string> {
  const seen = new Set([schema])
  const names = new Set<string>()
  for (const node of seen) {
    for (const name of directNames(node)) names.add(name)
    for (const next of sameValueSchemas(schema, node)) seen.add(next)
  }
  return names
}

/** Whether each value that fits the schema has this name: required by itself, by what it refers to or combines, or by every alternative. */
function requires(root: JsonSchema, name: string): boolean {
  const known = new Map<JsonSchema, boolean>()
  const look = (node: unknown): boolean => {
    if (!isSchema(node)) return false
    const before = known.get(node)
    if (before !== undefined) return before
    // A schema that refers to itself requires no more than it says elsewhere.
    known.set(node, false)
    const { required, $ref, allOf, anyOf, oneOf } = node
    const found =
      (Array.isArray(required) && required.includes(name)) ||
      (typeof $ref === 'string' && look(resolved(root, $ref))) ||
      (Array.isArray(allOf) && allOf.some(look)) ||
      [anyOf, oneOf].some((all) => Array.isArray(all) && all.length > 0 && all.every(look))
    known.set(node, found)
    return found
  }
  return look(root)
}
