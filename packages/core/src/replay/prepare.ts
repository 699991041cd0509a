/** Prepares a replay: what the export must hold, the definitions in a fresh store, and the engine. */
import { type AgentData, isWitanError, WitanError } from '@witan/protocol'
import { agentSchema } from '@witan/protocol/schemas'
import type { Entry } from '@witan/protocol/entries'
import type { AgentRow } from '../agent/records.ts'
import { readExport } from '../conversation/read-export.ts'
import type { ExportItem } from '../store/export.ts'
import { collected, opened } from '../store/open-snapshot.ts'
import type { MovingOf } from '../store/export-lines.ts'
import type { ConversationRow, ConversationSnapshot, Store } from '../store/store.ts'
import { defineTool, type FunctionTool } from '../tool/define-tool.ts'
import type { RuntimeOptions } from '../runtime/options.ts'
import type { Parts } from '../runtime/wiring.ts'
import { agentsIn, usedRevisions } from '../runtime/export/definitions.ts'
import { withPseudonyms } from '../runtime/export/pseudonyms.ts'
import { createEngine, type Engine } from './engine.ts'
import { createFollowedLog } from './followed-log.ts'
import { foldsOf } from '../conversation/folds.ts'
import { type DeclaredTool, undeclaredTool } from './undeclared.ts'

/** Everything that a replay needs of an export. */
export interface ReplaySource {
  readonly database: string
  readonly whole: ConversationSnapshot
  /** The agents and protocols, with the revisions that the log names. */
  readonly definitions: readonly Pick<MovingOf<'agent'>, 'id' | 'revisions'>[]
  readonly tools: readonly DeclaredTool[]
  /** The ids of further agents that exist, although the log names no revision of them. */
  readonly others?: readonly string[]
  /** The ceilings of the runtime. Default: those of a runtime. */
  readonly limits?: NonNullable<RuntimeOptions['limits']>
  /** The ids of models that have another name for agents, by that name. */
  readonly models?: Readonly<Record<string, string>>
}

/** An engine for what an export holds, with its definitions in `store`. Throws `BODY_INVALID` for what a replay does not play again. */
export function prepared(source: ReplaySource, store: Store): Promise<Engine> {
  return asRead(() => load(source, store))
}

/** The error for what a replay cannot play again. Nothing was played yet. */
export function notReplayable(what: string, cause?: unknown): WitanError {
  return new WitanError('BODY_INVALID', `This conversation cannot be replayed: ${what}.`, {
    ...(cause === undefined ? {} : { cause }),
    hint: 'Export it with `witan conversations export`; the page on replay lists what is not played again.',
  })
}

/** The lines of an export have their form, and the bodies in them any: what the engine could not have written is refused as a whole. */
async function asRead<Result>(read: () => Promise<Result>): Promise<Result> {
  try {
    return await read()
  } catch (error) {
    throw isWitanError(error) ? error : notReplayable('its log has an entry that Witan does not write', error)
  }
}

async function load(source: ReplaySource, store: Store): Promise<Engine> {
  const { database, whole, definitions, limits = {} } = source
  const copied = copiedIn(whole)
  refuseUnordered(whole.entries.slice(copied))
  const used = await usedRevisions(whole.entries)
  for (const one of definitions) await loadDefinition(store, database, { ...one, upTo: used.get(one.id) })
  for (const id of source.others ?? []) {
    if (definitions.some((one) => one.id === id)) continue
    const data = agentSchema.parse({ id, name: id, instructions: '', model: 'none' })
    const row = { database, id, revision: 1, source: 'data', data, warnings: [], changed: null } as const
    await store.changeAgents(database, [{ id, ifRevision: 0, row }])
  }
  const agents = definitions.flatMap(({ revisions }) => revisions.map(({ data }) => data as unknown as AgentData))
  const loadInto = async ({ registry }: Parts) => {
    await registry.ensure(database)
    for (const [id, revisions] of used) for (const one of revisions) await registry.ensureRevision(database, id, one)
  }
  const written = foldsOf(whole.entries, copied)
  if (written === null) throw notReplayable('too many processes wrote its log')
  return createEngine({
    store,
    row: asBegun(database, whole.row, copied),
    followed: createFollowedLog(whole.entries, copied, written),
    contents: new Map((whole.contents ?? []).map(({ digest, bytes }) => [digest, bytes])),
    limits,
    tools: toolsOf(source),
    sources: [...new Set(agents.flatMap(({ queries = [] }) => queries.map(({ source: name }) => name)))],
    models: new Map([...modelIds(definitions, whole.entries), ...Object.entries(source.models ?? {})]),
    load: loadInto,
    isTraced: whole.entries.some(({ type, body }) => type === 'message' && body.traceparent !== undefined),
  })
}

/** The entries of an earlier version's runs stand in another order than they were decided in. */
function refuseUnordered(entries: readonly Entry[]): void {
  for (const { type, kind, place, body } of entries) {
    if (type !== 'start' || kind !== 'agent' || place.call !== place.run || body.ordered === true) continue
    throw notReplayable(
      `the run \`${place.run}\` was begun by an earlier version; the Witan that began it can replay it`,
    )
  }
}

/** The number of entries that a fork copied: those of jobs that it has no rows of, and what stands between them. */
function copiedIn({ entries, jobs }: ConversationSnapshot): number {
  const known = new Set(jobs.map(({ id }) => id))
  return 1 + entries.findLastIndex(({ type, job }) => type !== 'participant' && !known.has(job))
}

/** The function tools of the agents: as the export declares them, or else as their calls show. */
function toolsOf({ tools, definitions, whole: { entries } }: ReplaySource): readonly FunctionTool[] {
  const declared = new Map(tools.map((tool) => [tool.name, tool]))
  const missed = new Set<string>()
  for (const { type, body } of entries) if (type === 'notice' && body.code === 'TOOL_UNAVAILABLE') missed.add(body.tool)
  for (const { tools: named = [] } of agentsIn(definitions))
    for (const name of named) {
      if (declared.has(name) || missed.has(name)) continue
      declared.set(name, undeclaredTool(name, entries))
    }
  return [...declared.values()].map(toolOf)
}

/** The row of the conversation before its first entry. */
function asBegun(database: string, row: ConversationRow, copied: number): ConversationRow {
  const parameters = Object.fromEntries(
    Object.entries(row.parameters).map(([name, [value, hidden, after]]) => [
      name,
      after === undefined || after <= copied ? ([value, hidden, after] as const) : ([value, false] as const),
    ]),
  ) as ConversationRow['parameters']
  return { ...row, database, parameters, lastSeq: 0, expiresAt: null }
}

/** Stores the revisions of a definition, up to the latest that the log names. */
async function loadDefinition(
  store: Store,
  database: string,
  { id, revisions, upTo }: ReplaySource['definitions'][number] & { readonly upTo: ReadonlySet<number> | undefined },
): Promise<void> {
  const last = upTo === undefined ? Number.POSITIVE_INFINITY : Math.max(...upTo)
  for (const one of upTo ?? []) {
    if (!revisions.some(({ revision }) => revision === one))
      throw notReplayable(`the export lacks revision ${one} of \`${id}\``)
  }
  let before = 0
  for (const { revision, ...rest } of revisions) {
    if (revision > last) return
    const row = { database, id, revision, ...rest, changed: null } as unknown as AgentRow
    if (!(await store.changeAgents(database, [{ id, ifRevision: before, row }])))
      throw notReplayable(`\`${id}\` is there twice`)
    before = revision
  }
}

function toolOf({ name, description, jsonSchema, effect }: DeclaredTool): FunctionTool {
  const parameters = {
    '~standard': { version: 1 as const, vendor: 'witan', validate: (value: unknown) => ({ value }) },
  }
  return defineTool({ name, description, jsonSchema, effect, parameters, execute: () => null })
}

/**
 * The ids of the models by name. A model of code may have another id than the name under which agents find it: then the error of a
 * call that it failed has it.
 */
function modelIds(definitions: ReplaySource['definitions'], entries: readonly Entry[]): ReadonlyMap<string, string> {
  const agents = definitions.flatMap(({ revisions }) => revisions.map(({ data }) => data as unknown as AgentData))
  const ids = new Map([...modelNames(agents, entries)].map((name) => [name, name]))
  const asked = new Map<string, string | undefined>()
  for (const { type, kind, place, body } of entries) {
    if (type === 'start' && kind === 'agent') {
      const found = definitions.find(({ id }) => id === body.agent)?.revisions
      const data = found?.find(({ revision }) => revision === body.revision)?.data as unknown as AgentData | undefined
      asked.set(place.call, body.overrides?.model ?? data?.model ?? undefined)
    } else if (type === 'error' && kind === 'model') {
      const name = asked.get(place.call)
      if (name !== undefined && !ids.has(body.model)) ids.set(name, body.model)
    }
  }
  return ids
}

/** The models that agents, delegations and the log name, without those that the runtime did not have. */
function modelNames(agents: readonly AgentData[], entries: readonly Entry[]): ReadonlySet<string> {
  const names = new Set<string>()
  for (const { model, fallbacks = [] } of agents) for (const name of [model, ...fallbacks]) if (name) names.add(name)
  for (const { type, kind, body } of entries) {
    if (type === 'start' && kind === 'agent' && body.overrides?.model !== undefined) names.add(body.overrides.model)
  }
  for (const { type, kind, body } of entries)
    if (type === 'error' && kind === 'model' && body.code === 'MODEL_UNKNOWN') names.delete(body.model)
  return names
}

/**
 * Reads what a replay needs from the lines of an export: of the conversation of that id, or of the only one. Hidden values become
 * pseudonyms. Throws `NOT_FOUND`, and what `readExport` throws.
 */
export async function readReplaySource(
  lines: AsyncIterable<string>,
  { conversation = null }: { readonly conversation?: string | null } = {},
): Promise<ReplaySource> {
  const found: (ExportItem & { readonly kind: 'conversation' })[] = []
  const definitions: MovingOf<'agent'>[] = []
  let runtime: MovingOf<'runtime'> | null = null
  for await (const item of readExport(lines)) {
    if (item.kind === 'agent') definitions.push(item)
    else if (item.kind === 'runtime') runtime = item
    else if (item.kind === 'conversation' && (conversation === null || item.snapshot.row.id === conversation))
      found.push(item)
  }
  const [one, another] = found
  if (one === undefined) throw noConversation(conversation)
  if (another !== undefined) throw severalConversations(found.map(({ snapshot }) => snapshot.row.id))
  const { database } = one
  const own = definitions.filter((definition) => definition.database === database)
  const { maxDepth = null, ...limits } = runtime?.limits ?? {}
  const whole = await asRead(async () => collected(await withPseudonyms(opened(one.snapshot), agentsIn(own))))
  return {
    database,
    whole,
    definitions: own,
    tools: runtime?.tools ?? [],
    limits: {
      ...limits,
      ...(maxDepth === null && runtime === null ? {} : { maxDepth: maxDepth ?? Number.POSITIVE_INFINITY }),
    },
    models: runtime?.models ?? {},
    others: runtime?.agents ?? [],
  }
}

function noConversation(conversation: string | null): WitanError {
  const which = conversation === null ? 'no conversation' : `no conversation \`${conversation}\``
  return new WitanError('NOT_FOUND', `The export holds ${which}.`, {
    hint: 'Take a file of `witan conversations export`.',
  })
}

function severalConversations(ids: readonly string[]): WitanError {
  const listed = ids.slice(0, 5).map((id) => `\`${id}\``)
  return new WitanError('BODY_INVALID', `The export holds ${ids.length} conversations: ${listed.join(', ')} ….`, {
    hint: 'Name one of them.',
  })
}
