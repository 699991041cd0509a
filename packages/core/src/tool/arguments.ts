/**
 * Turns the text that a model wrote into the arguments that a tool may use. Bound and unlisted names are dropped and
 * recorded.
 */
import type { NoticeBody } from '@witan/protocol/entries'
import { type ReadJson, readJson } from '@witan/protocol/schemas'
import { boundSpelling } from './schema.ts'
import { namesOf } from './schema-names.ts'
import type { Tool } from './tool.ts'

/** The result for a model's arguments. `raw` is the parsed text of the model: for the log, never for an executor. */
export type PreparedArguments =
  | {
      readonly ok: true
      readonly raw: unknown
      /** The arguments that remain for this tool, as the model wrote them. */
      readonly kept: Readonly<Record<string, unknown>>
      readonly arguments: Readonly<Record<string, unknown>>
      readonly notices: readonly NoticeBody[]
    }
  | { readonly ok: false; readonly raw: unknown; readonly detail: string; readonly notices: readonly NoticeBody[] }

/** Parses, filters and checks. A bound value always wins over the model's, in every spelling [C19, P4]. */
export function prepareArguments(tool: Tool, text: string): PreparedArguments {
  const read = parse(text)
  const raw = read.ok ? read.value : null
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) {
    const why = !read.ok && read.isExcess ? `: ${read.problem}` : ''
    return { ok: false, raw: text, detail: `The arguments must be one JSON object${why}.`, notices: [] }
  }
  const listed = listedNames(tool)
  const kept: Record<string, unknown> = {}
  const left: string[] = []
  for (const name of Object.keys(raw)) {
    if (isWanted(tool, listed, name)) kept[name] = (raw as Record<string, unknown>)[name]
    else left.push(name)
  }
  const notices = left.length === 0 ? [] : noticesOf(tool, left, raw as Record<string, unknown>)
  const checked = tool.check(kept)
  if (checked.ok) return { ok: true, raw, kept, arguments: checked.arguments, notices }
  return { ok: false, raw, detail: checked.issues.slice(0, 5).join('; '), notices }
}

function parse(text: string): ReadJson {
  return text.trim() === '' ? { ok: true, value: {} } : readJson(text)
}

/** The argument names of the tool's schema; null if the schema accepts any name. */
function listedNames(tool: Tool): ReadonlySet<string> | null {
  const schema = tool.offer?.parameters
  if (schema === undefined || tool.takesAnyName === true) return null
  const { listed, isOpen } = namesOf(schema)
  return isOpen ? null : listed
}

/**
 * True if the schema lists the name. If it accepts any name: true except for bound names in any spelling and names that
 * would set the arguments' prototype [D14].
 */
function isWanted(tool: Tool, listed: ReadonlySet<string> | null, name: string): boolean {
  if (listed !== null) return listed.has(name) || tool.unlisted?.includes(name) === true
  return name !== '__proto__' && boundSpelling(tool.bound, name) === undefined
}

/** The most dropped arguments of a call that are named: each notice is an entry of the log. */
const mostNamed = 5

/** The first dropped arguments by name, each bound name that was written besides once, and how many more there were. */
function noticesOf(tool: Tool, names: readonly string[], raw: Readonly<Record<string, unknown>>): NoticeBody[] {
  const notices = names.slice(0, mostNamed).map((name) => dropped(tool, name, raw[name]))
  const overridden = new Set<string>()
  let more = 0
  for (const name of names.slice(mostNamed)) {
    const bound = boundSpelling(tool.bound, name)
    if (bound === undefined) more += 1
    else if (!overridden.has(bound)) notices.push(overriding(tool, bound))
    if (bound !== undefined) overridden.add(bound)
  }
  if (more > 0) {
    const detail = `\`${tool.name}\` has none of ${more} more arguments either; they were dropped.`
    notices.push({ code: 'ARGUMENT_UNKNOWN_DROPPED', detail, tool: tool.name, count: more })
  }
  return notices
}

function overriding(tool: Tool, bound: string): NoticeBody {
  const detail = `\`${bound}\` is bound for \`${tool.name}\`; what the model wrote was dropped.`
  return { code: 'ARGUMENT_OVERRIDE_IGNORED', detail, tool: tool.name, argument: bound }
}

function dropped(tool: Tool, name: string, value: unknown): NoticeBody {
  const bound = boundSpelling(tool.bound, name) ?? boundWithin(tool.bound, value)
  if (bound !== undefined) return overriding(tool, bound)
  const argument = clip(name)
  const detail = `\`${tool.name}\` has no argument \`${argument}\`; it was dropped.`
  return { code: 'ARGUMENT_UNKNOWN_DROPPED', detail, tool: tool.name, argument }
}

const mostKeys = 1000

/** A bound name inside a dropped value, such as the value of `__proto__` or of an unlisted key. Searches the first 1,000 keys. */
function boundWithin(bound: readonly string[], value: unknown): string | undefined {
  if (bound.length === 0) return undefined
  const left = [value]
  for (let looked = 0; left.length > 0 && looked < mostKeys; ) {
    const one = left.pop()
    if (typeof one !== 'object' || one === null) continue
    for (const [name, inner] of Object.entries(one).slice(0, mostKeys - looked)) {
      looked += 1
      const found = Array.isArray(one) ? undefined : boundSpelling(bound, name)
      if (found !== undefined) return found
      left.push(inner)
    }
  }
  return undefined
}

function clip(name: string): string {
  return name.length > 64 ? `${name.slice(0, 64)}…` : name
}
