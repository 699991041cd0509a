/** Whether a tool of a server may be offered at all: its size, its depth, and whether its arguments can be checked. */
import type { Pausable } from '../../identity/pausable.ts'
import { schemaProblem } from '../../model/json-schema-problem.ts'
import { type PatternAllowance, patternAllowance } from '../../model/pattern.ts'
import { cleanSchema, hidesCharacters } from './describe.ts'
import type { McpToolDefinition } from './mcp.ts'
import { shownTool } from './names.ts'
import type { JsonSchema } from '../schema.ts'

/** The most bytes of a definition as JSON. */
const mostBytes = 32_768
/** So deep may a schema nest: an entry of the log that holds it is within the depth of JSON. */
const deepest = 48

/** The schemas of a tool as they may be offered, or in words why it may not; what follows "is not offered: ". */
type Examined =
  | { readonly ok: true; readonly inputSchema: JsonSchema; readonly outputSchema: JsonSchema | null }
  | { readonly ok: false; readonly why: string }

/** What is known of definitions: a list keeps its objects, so that each is examined once and not at each call of an agent. */
const known = new WeakMap<McpToolDefinition, Examined>()

/** What the patterns of the tools of one server may cost together. */
export function toolPatterns(): PatternAllowance {
  return patternAllowance()
}

/** Examines a definition, in pieces. What is refused because `patterns` is used up is examined again the next time. */
export function* examining(definition: McpToolDefinition, patterns: PatternAllowance): Pausable<Examined> {
  const before = known.get(definition)
  if (before !== undefined) return before
  const counting = { isSpent: false, hasCompiled: false }
  const found = yield* looking(definition, {
    count(pattern) {
      counting.hasCompiled = true
      const reason = patterns.count(pattern)
      if (reason !== null) counting.isSpent = true
      return reason
    },
    pauses: () => {
      const isLong = counting.hasCompiled
      counting.hasCompiled = false
      return isLong
    },
  })
  if (!counting.isSpent) known.set(definition, found)
  return found
}

/** Why a definition is too large or nests too deep, before anything else reads it; null if it is neither. */
export function sizeProblem(definition: McpToolDefinition): string | null {
  const found = known.get(definition)
  if (found?.ok === true) return null
  const tooLarge = 'its definition has more than 32 KiB of JSON'
  const { name, description, inputSchema, outputSchema, annotations } = definition
  const parts = { name, description, inputSchema, outputSchema, annotations }
  const excess = excessOf(parts)
  if (excess === 'size') return tooLarge
  if (excess === 'depth') return `its definition is nested deeper than ${deepest}`
  if (excess === 'key') return 'a name in its definition is `__proto__`'
  return Buffer.byteLength(JSON.stringify(parts)) > mostBytes ? tooLarge : null
}

/** Looks at so many values at most as a definition within the bounds can have. */
function excessOf(value: object): 'size' | 'depth' | 'key' | null {
  const open: (readonly [of: object, depth: number])[] = [[value, 0]]
  let left = mostBytes
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [of, depth] = next
    // The definition itself is no level of a schema.
    if (depth > deepest) return 'depth'
    if (Object.hasOwn(of, '__proto__')) return 'key'
    const isList = Array.isArray(of)
    for (const key in of) {
      const inner = (of as Readonly<Record<string, unknown>>)[key]
      left -= 1 + (isList ? 0 : key.length) + (typeof inner === 'string' ? inner.length : 0)
      if (left < 0) return 'size'
      if (typeof inner === 'object' && inner !== null) open.push([inner, depth + 1])
    }
  }
  return null
}

interface Counting extends PatternAllowance {
  /** Whether something was compiled since it was asked the last time. */
  pauses(): boolean
}

function* looking(definition: McpToolDefinition, patterns: Counting): Pausable<Examined> {
  const large = sizeProblem(definition)
  if (large !== null) return { ok: false, why: large }
  if (hidesCharacters(definition.name)) return { ok: false, why: 'its name has characters that cannot be seen' }
  const { inputSchema, outputSchema } = definition
  if (inputSchema['type'] !== 'object') return { ok: false, why: 'its `inputSchema` is not of type `object`' }
  yield
  const schemas: JsonSchema[] = []
  for (const [key, schema] of Object.entries({ inputSchema, outputSchema })) {
    if (schema === undefined) continue
    const problem = yield* inPieces(schemaProblem(schema, patterns), patterns)
    if (problem !== null) {
      const place = problem.path === '' ? `\`${key}\`` : `\`${key}.${shownTool(problem.path)}\``
      return { ok: false, why: `its ${place} cannot be checked: ${reasonText(problem.reason)}` }
    }
    const clean = cleanSchema(schema)
    if (clean === null) return { ok: false, why: `its \`${key}\` has characters that cannot be seen` }
    schemas.push(clean)
    yield
  }
  return { ok: true, inputSchema: schemas[0] as JsonSchema, outputSchema: schemas[1] ?? null }
}

const longestReason = 160

/** A reason may quote what the server wrote. */
function reasonText(reason: string): string {
  const text = hidesCharacters(reason) ? 'it has characters that cannot be seen' : reason.replace(/\s+/g, ' ')
  return text.length > longestReason ? `${text.slice(0, longestReason).toWellFormed()}…` : text
}

/** Parts of a schema between two pauses. */
const atOnce = 200

/** The same work with fewer pauses, since each counts as a millisecond: one for many parts, and one for each pattern. */
function* inPieces<Result>(work: Pausable<Result>, patterns: Counting): Pausable<Result> {
  for (let pieces = 1; ; pieces += 1) {
    const piece = work.next()
    if (piece.done === true) return piece.value
    if (patterns.pauses() || pieces % atOnce === 0) yield
  }
}
