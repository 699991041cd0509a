/** Which tools of a server an agent is offered, in which form, and what is said of those that it is not. */
import { createHash } from 'node:crypto'
import type { ListedTool, NoticeBody } from '@witan/protocol/entries'
import type { McpUse } from '@witan/protocol/mcp'
import type { Pausable } from '../../identity/pausable.ts'
import type { PatternAllowance } from '../../model/pattern.ts'
import { canonicalJson } from '../digest.ts'
import type { Effect } from '../tool.ts'
import { cleanDescription } from './describe.ts'
import { examining, sizeProblem, toolPatterns } from './examine.ts'
import type { McpSettings, McpToolDefinition } from './mcp.ts'
import { fitsPattern, matcherOf, offeredName } from './names.ts'
import type { OfferedServer } from '@witan/protocol/mcp'
import { type McpLock, noPins, pinOf } from './pins.ts'
import { createNotices, type Notices } from './select-notices.ts'
import { withoutUnbound } from './unbound.ts'

/** What a selection is made of. */
export interface Selection {
  readonly use: McpUse
  readonly settings: McpSettings
  readonly list: readonly McpToolDefinition[]
  /** Null: nothing is pinned. */
  readonly pins: McpLock | null
  /** The names of the parameters that the agent declares. */
  readonly parameters: readonly string[]
}

/** The tools as they stand in the log, in order of name, and what a person should know. */
interface Selected {
  readonly listed: OfferedServer
  readonly notices: readonly NoticeBody[]
}

/**
 * Selects the tools of a server for an agent, in pieces. A tool that cannot be offered takes no room from others. Nothing of what a server says makes
 * it throw; the lists of one server should be the same objects, since what was found out about a definition is kept with it.
 */
export function* selectingTools(selection: Selection): Pausable<Selected> {
  const { use, settings, list } = selection
  const notices = createNotices(settings.name)
  const wanted = yield* wantedTools(use, list)
  const offered = withoutCollisions(wanted, notices)
  const patterns = toolPatterns()
  const tools: ListedTool[] = []
  let leftOut = 0
  for (const [definition, offeredAs] of offered) {
    if (tools.length >= settings.maxTools) {
      leftOut += 1
      continue
    }
    const tool = yield* offering({ definition, offeredAs, patterns, notices }, selection)
    if (tool !== null) tools.push(tool)
    yield
  }
  if (leftOut > 0) notices.leftOut(leftOut, settings.maxTools)
  const { name: server, trusted } = settings
  const names = tools.map(({ offeredAs }) => offeredAs)
  const digest = yield* digesting(trusted, tools)
  return { listed: { server, trusted, digest, names, tools }, notices: notices.all() }
}

/** The tools that the agent asks for, in order of name. */
function* wantedTools({ tools }: McpUse, list: readonly McpToolDefinition[]): Pausable<readonly McpToolDefinition[]> {
  const inOrder = list.toSorted((one, other) => (one.name < other.name ? -1 : one.name > other.name ? 1 : 0))
  if (tools === null) return inOrder
  const fits = matcherOf(tools)
  const wanted: McpToolDefinition[] = []
  for (const [at, definition] of inOrder.entries()) {
    if (fits(definition.name)) wanted.push(definition)
    if (at % 50 === 49) yield
  }
  return wanted
}

/** The tools, each with the name under which it is offered. Tools that would share a name are all left out. */
function withoutCollisions(
  wanted: readonly McpToolDefinition[],
  notices: Notices,
): readonly (readonly [McpToolDefinition, string])[] {
  const byName = new Map<string, McpToolDefinition[]>()
  for (const definition of wanted) {
    const name = offeredName(notices.server, definition.name)
    const others = byName.get(name)
    if (others === undefined) byName.set(name, [definition])
    else others.push(definition)
  }
  const alone: (readonly [McpToolDefinition, string])[] = []
  for (const [name, definitions] of byName) {
    const [first] = definitions
    if (first === undefined) continue
    if (definitions.length === 1) alone.push([first, name])
    else notices.collision(name, definitions)
  }
  return alone
}

interface Candidate {
  readonly definition: McpToolDefinition
  readonly offeredAs: string
  readonly patterns: PatternAllowance
  readonly notices: Notices
}

/** The tool as it is offered; null if it is not, which a notice then says. */
function* offering(
  { definition, offeredAs, patterns, notices }: Candidate,
  { use, settings, pins, parameters }: Selection,
): Pausable<ListedTool | null> {
  const { name } = definition
  const large = sizeProblem(definition)
  if (large !== null) return notices.refused(name, large)
  const pin = pinOf(pins ?? noPins, settings.name, definition)
  const differs = pin === 'changed' || pin === 'new'
  if (differs && settings.onChange === 'block') return notices.changed(name, { pin, isOffered: false })
  const examined = yield* examining(definition, patterns)
  if (!examined.ok) return notices.refused(name, examined.why)
  const bound = new Set(Object.keys(use.bind))
  const own = withoutUnbound(examined.inputSchema, { parameters, bound })
  if (!own.ok) return notices.notBound(name, own)
  if (differs) notices.changed(name, { pin, isOffered: true })
  const described = Object.hasOwn(use.descriptions, name) ? use.descriptions[name] : definition.description
  const readOnly = isReadOnly(settings, definition)
  return {
    name,
    offeredAs,
    description: cleanDescription(described ?? ''),
    inputSchema: own.schema,
    ...(examined.outputSchema === null ? {} : { outputSchema: examined.outputSchema }),
    effect: effectOf(name, settings, readOnly),
    readOnly,
  }
}

/** Whether a tool only reads: by the configuration, or by the word of a server that is trusted. */
export function isReadOnly({ readOnly, trusted }: McpSettings, { name, annotations }: McpToolDefinition): boolean {
  if (readOnly.some((pattern) => fitsPattern(pattern, name))) return true
  return trusted && annotations?.['readOnlyHint'] === true
}

function effectOf(name: string, { effects }: McpSettings, readOnly: boolean): Effect {
  const exact = Object.hasOwn(effects, name) ? effects[name] : undefined
  const [, byPattern] = Object.entries(effects).find(([pattern]) => fitsPattern(pattern, name)) ?? []
  return exact ?? byPattern ?? (readOnly ? 'none' : 'once')
}

/** The SHA-256 of the canonical JSON of `{ tools, trusted }`, with a pause after each tool. */
function* digesting(trusted: boolean, tools: readonly ListedTool[]): Pausable<string> {
  const hash = createHash('sha256').update('{"tools":[')
  for (const [at, tool] of tools.entries()) {
    hash.update(`${at === 0 ? '' : ','}${canonicalJson(tool)}`)
    yield
  }
  return hash.update(`],"trusted":${trusted}}`).digest('hex')
}
