/** Saves agents, protocols and knowledge bases: parsed, checked together, and stored all or none. */
import { type AgentData, type Finding, type StoredAgent, WitanError } from '@witan/protocol'
import { type KnowledgeBase, knowledgeUses } from '@witan/protocol/knowledge'
import type { Protocol, StoredProtocol } from '@witan/protocol/protocols'
import { localOf, withWholeAddress } from '../address.ts'
import { checkAgent, type Survey, surveyOf } from '../check/check.ts'
import { clashes } from '../check/names.ts'
import { checkKnowledge } from '../check/knowledge.ts'
import { checkBaseQuery } from '../check/knowledge-query.ts'
import { checkPeers } from '../check/peers.ts'
import type { Changed } from '../../identity/changed.ts'
import { runWithPauses, type Pausable } from '../../identity/pausable.ts'
import { type PatternAllowance, patternAllowance } from '../../model/pattern.ts'
import { peerMessagesIn } from '../protocol/peer-messages.ts'
import {
  type AgentChange,
  type AgentRow,
  type AnyDefinition,
  type BaseRow,
  baseRowId,
  protocolId,
  type ProtocolRow,
} from '../records.ts'
import { listedByParents } from '../seed.ts'
import {
  type AdminContext,
  currentAgents,
  currentBases,
  currentProtocols,
  lookingAgain,
  toStored,
  toStoredProtocol,
} from './admin.ts'
import { doubleError, type Listed, readAgent, readBase, readProtocol, staleError } from './read.ts'

/** An agent that was saved, and whether it is new. */
export interface Saved {
  readonly agent: StoredAgent
  readonly created: boolean
}

/** A protocol that was saved, and whether it is new. */
interface SavedProtocol {
  readonly protocol: StoredProtocol
  readonly created: boolean
}

/** A knowledge base that was saved, and whether it is new. */
export interface SavedBase {
  readonly row: BaseRow
  readonly created: boolean
}

/** The precondition of a save: a certain current revision, or a free id. */
interface SaveTerms {
  readonly ifRevision?: number | null
  readonly create?: boolean
}

/** How to save, and who owns the definitions. `each` replaces the common terms for single agents of a batch. */
interface SaveOptions extends SaveTerms {
  readonly source?: 'code' | 'data'
  readonly each?: ReadonlyMap<string, SaveTerms>
}

/** What to save together. */
interface ToSave {
  readonly agents?: readonly unknown[] | undefined
  readonly protocols?: readonly unknown[] | undefined
  readonly knowledge?: readonly unknown[] | undefined
}

interface Parsed {
  readonly agents: readonly AgentData[]
  readonly protocols: readonly Protocol[]
  readonly bases: readonly KnowledgeBase[]
  readonly patterns: PatternAllowance
}

/** What was saved, in the order of the input. */
interface SavedTogether {
  readonly agents: readonly Saved[]
  readonly protocols: readonly SavedProtocol[]
  readonly knowledge: readonly SavedBase[]
}

/**
 * Saves agents, protocols and knowledge bases, all or none. Throws the first error found; warnings are stored with the agents. A save that
 * changes nothing creates no revision.
 */
export async function saveTogether(
  admin: AdminContext,
  { agents: inputs = [], protocols = [], knowledge = [] }: ToSave,
  options: SaveOptions = {},
): Promise<SavedTogether> {
  const patterns = patternAllowance()
  const parsed = {
    protocols: await runWithPauses(readProtocols(protocols, patterns)),
    bases: await runWithPauses(readBases(knowledge)),
    agents: (await runWithPauses(readAgents(inputs))).map((agent) => withWholeAddress(agent, admin.domains)),
    patterns,
  }
  refuseDoubles(parsed.agents.map(({ id }, index) => ({ name: id, what: 'Agent', path: `agents.${index}.id` })))
  refuseDoubles(
    parsed.protocols.map(({ name }, index) => ({ name, what: 'Protocol', path: `protocols.${index}.name` })),
  )
  refuseDoubles(
    parsed.bases.map(({ id }, index) => ({ name: id, what: 'Knowledge base', path: `knowledge.${index}.id` })),
  )
  await admin.registry.ensure(admin.database)
  return lookingAgain(admin, () => save(admin, parsed, options))
}

/** The definitions of the code, as written. */
export interface CodeDefinitions {
  readonly agents: readonly object[]
  readonly protocols: readonly object[]
  readonly knowledge: readonly object[]
}

/** Saves agents, as `saveTogether` does. */
export async function saveAgents(
  admin: AdminContext,
  agents: readonly unknown[],
  options: SaveOptions = {},
): Promise<readonly Saved[]> {
  return (await saveTogether(admin, { agents }, options)).agents
}

/**
 * Saves the definitions of the code, as `source: code`, and adds each agent to the rosters of the parents that it names,
 * stored parents included [F10]. A stored parent that cannot list it is left unchanged; `report` gets the reason.
 */
export async function seedDefinitions(
  admin: AdminContext,
  { agents, ...others }: CodeDefinitions,
  report: (error: unknown) => void,
): Promise<void> {
  await saveTogether(admin, { agents: listedByParents(agents, agents), ...others }, { source: 'code' })
  const seeded = new Set(agents.map((agent) => (agent as { readonly id?: unknown }).id))
  for (const { id, data, source } of [...admin.registry.current(admin.database).agents.values()]) {
    const [parent = data] = seeded.has(id) ? [] : listedByParents([data], agents)
    if (parent !== data) await saveAgents(admin, [parent], { source }).catch(report)
  }
}

async function save(admin: AdminContext, parsed: Parsed, options: SaveOptions): Promise<SavedTogether> {
  const rows = admin.registry.current(admin.database).agents
  const { agents, survey } = await surveyTogether(admin, parsed)
  const changed = admin.changed()
  const changes: Planned<AgentRow>[] = []
  for (const agent of parsed.agents) {
    const current = rows.get(agent.id)
    refuseStale({ ...agentNamed(agent.id), known: current }, options.each?.get(agent.id) ?? options)
    if (current === undefined && options.source !== 'code') await refuseParticipant(admin, agent.id)
    if (agent.address !== null && agent.address !== current?.data.address) {
      await refuseKey(admin, agent.address)
      if (options.source !== 'code') await refuseParticipant(admin, localOf(agent) ?? '', 'address')
    }
    const warnings = refuseErrors(await checkAgent(agent, survey))
    const row = { id: agent.id, data: agent, warnings, changed }
    changes.push(await planned(admin, { known: current, row }, options))
  }
  const protocols = await plannedProtocols(admin, parsed, { changed, options })
  const bases = await plannedBases(admin, parsed, { changed, options })
  refuseUnfit(parsed, agents, survey)
  const isStored = await store(admin, [...changes, ...protocols, ...bases], changed)
  // The code's own are saved at each start, and acknowledged to nobody.
  if (!isStored && options.source !== 'code') await admin.records.confirmStored(admin.database)
  return {
    agents: changes.map(({ row, ifRevision }) => ({ agent: toStored(admin, row), created: ifRevision === 0 })),
    protocols: protocols.map(({ row, ifRevision }) => ({
      protocol: toStoredProtocol(admin, row),
      created: ifRevision === 0,
    })),
    knowledge: bases.map(({ row, ifRevision }) => ({ row, created: ifRevision === 0 })),
  }
}

/** Who changes definitions, and on which terms. */
interface Change {
  readonly changed: Changed
  readonly options: SaveOptions
}

async function plannedProtocols(
  admin: AdminContext,
  { protocols }: Parsed,
  { changed, options }: Change,
): Promise<Planned<ProtocolRow>[]> {
  const known = admin.registry.current(admin.database).protocols
  const changes: Planned<ProtocolRow>[] = []
  for (const data of protocols) {
    const current = known.get(data.name)
    refuseStale({ ...protocolNamed(data.name), known: current }, options)
    const row = { id: protocolId(data.name), data, warnings: [], changed }
    changes.push(await planned(admin, { known: current, row }, options))
  }
  return changes
}

async function plannedBases(
  admin: AdminContext,
  { bases }: Parsed,
  { changed, options }: Change,
): Promise<Planned<BaseRow>[]> {
  const known = admin.registry.current(admin.database).bases
  const changes: Planned<BaseRow>[] = []
  for (const data of bases) {
    const current = known.get(data.id)
    await checkBaseQuery(data, admin.check.querySources)
    refuseStale({ called: `Knowledge base \`${data.id}\``, id: data.id, known: current }, options)
    const row = { id: baseRowId(data.id), data, warnings: [], changed }
    changes.push(await planned(admin, { known: current, row }, options))
  }
  return changes
}

/**
 * Refuses a new agent that would speak under the name of somebody who takes part in a conversation [C28]. Agents of the code are
 * not asked: no participant may keep a program from starting.
 */
async function refuseParticipant(admin: AdminContext, name: string, path: 'id' | 'address' = 'id'): Promise<void> {
  if (!(await admin.takesPart(admin.database, name))) return
  const what = path === 'id' ? 'that id' : 'an address with that local part'
  const detail = `\`${name}\` takes part in a conversation as a person, so no agent can have ${what}.`
  throw new WitanError('NAME_TAKEN', detail, { path, hint: `Choose another ${path} for the agent.` })
}

/** Refuses an address that an API key of the database has: both would be known by it. */
async function refuseKey(admin: AdminContext, address: string): Promise<void> {
  const keyId = await admin.keyWithAddress(admin.database, address)
  if (keyId === null) return
  throw new WitanError('NAME_TAKEN', `The API key \`${keyId}\` has the address \`${address}\`.`, {
    path: 'address',
    hint: 'Choose another local part, or revoke the key.',
  })
}

/** The agents as they will be, and what their check reads. */
async function surveyTogether(
  admin: AdminContext,
  { agents: changed, protocols, bases, patterns }: Parsed,
): Promise<{ readonly agents: ReadonlyMap<string, AgentData>; readonly survey: Survey }> {
  const agents = currentAgents(admin)
  for (const agent of changed) agents.set(agent.id, agent)
  const all = currentProtocols(admin)
  for (const protocol of protocols) all.set(protocol.name, protocol)
  const known = currentBases(admin)
  for (const base of bases) known.set(base.id, base)
  const context = { ...admin.check, protocols: all, bases: known, patterns }
  return { agents, survey: await surveyOf(changed, agents, context) }
}

/** Refuses changed protocols and knowledge bases that an agent which names one of them does not survive, with all findings. */
function refuseUnfit(
  { agents: changed, protocols, bases }: Parsed,
  agents: ReadonlyMap<string, AgentData>,
  { context }: Survey,
): void {
  const names = new Set(protocols.map(({ name }) => name))
  const saved = new Set(changed.map(({ id }) => id))
  const speakers = [...agents.values()].filter(
    ({ id, speaks }) => !saved.has(id) && speaks.some(({ protocol }) => names.has(protocol)),
  )
  const set = { agents, protocols: context.protocols }
  refuseErrors(speakers.flatMap((agent) => [...checkPeers(agent, set), ...clashes(agent, peerMessagesIn(agent, set))]))
  const ids = new Set(bases.map(({ id }) => id))
  const searchers = [...agents.values()].filter(
    (agent) => !saved.has(agent.id) && knowledgeUses(agent).some(({ id }) => ids.has(id)),
  )
  refuseErrors(searchers.flatMap((agent) => checkKnowledge(agent, context)))
}

/** A definition that is about to be stored; its row is the current one if nothing changes. */
interface Planned<Row extends AnyDefinition> extends AgentChange {
  readonly row: Row
}

interface Wanted<Row extends AnyDefinition> {
  readonly known: Row | undefined
  readonly row: Pick<Row, 'id' | 'data' | 'warnings' | 'changed'>
}

async function planned<Row extends AnyDefinition>(
  admin: AdminContext,
  { known, row }: Wanted<Row>,
  options: SaveOptions,
): Promise<Planned<Row>> {
  const { id, data } = row
  const source = options.source ?? 'data'
  if (known !== undefined && known.source === source && JSON.stringify(known.data) === JSON.stringify(data))
    return { id, ifRevision: known.revision, row: known }
  const last = known?.revision ?? (await admin.records.lastAgentRevision(admin.database, id))
  const revision = last + 1
  const firstRevision = known === undefined ? revision : (known.firstRevision ?? 1)
  const next = { ...row, database: admin.database, revision, firstRevision, source } as Row
  return { id, ifRevision: known?.revision ?? 0, row: next }
}

/** Stores what is changed; false if nothing is. */
async function store(admin: AdminContext, changes: readonly AgentChange[], changed: Changed): Promise<boolean> {
  const real = changes.filter(({ row, ifRevision }) => row?.revision !== ifRevision)
  if (real.length === 0) return false
  if (!(await admin.records.changeAgents(admin.database, real, changed)))
    throw new WitanError('REVISION_MISMATCH', 'A definition was changed meanwhile; nothing was saved.', {
      hint: 'Read it again and repeat the change.',
    })
  for (const { id, row } of real) admin.registry.put(admin.database, id, row)
  return true
}

function* readProtocols(inputs: readonly unknown[], patterns: PatternAllowance): Pausable<Protocol[]> {
  const protocols: Protocol[] = []
  for (const input of inputs) {
    const read = yield* readProtocol(input, patterns)
    if (!read.ok) throw read.problems[0]
    protocols.push(read.protocol)
  }
  return protocols
}

function* readBases(inputs: readonly unknown[]): Pausable<KnowledgeBase[]> {
  const bases: KnowledgeBase[] = []
  for (const input of inputs) {
    const read = yield* readBase(input)
    if (!read.ok) throw read.problems[0]
    bases.push(read.base)
  }
  return bases
}

function* readAgents(inputs: readonly unknown[]): Pausable<AgentData[]> {
  const agents: AgentData[] = []
  for (const input of inputs) {
    yield
    agents.push(yield* readAgent(input))
  }
  return agents
}

function refuseDoubles(listed: readonly Listed[]): void {
  const seen = new Set<string>()
  for (const one of listed) {
    if (seen.has(one.name)) throw doubleError(one)
    seen.add(one.name)
  }
}

/** The error for a create whose id is taken. */
export function existsError(id: string): WitanError {
  return new WitanError('AGENT_EXISTS', `Agent \`${id}\` exists already.`, {
    path: 'id',
    hint: `PUT /api/v1/agents/${id} changes it.`,
  })
}

/** What an error calls a definition. */
interface Named {
  readonly called: string
  readonly id: string
}

function agentNamed(id: string): Named {
  return { called: `Agent \`${id}\``, id }
}

function protocolNamed(name: string): Named {
  return { called: `Protocol \`${name}\``, id: name }
}

function refuseStale(
  { called, id, known }: Named & { readonly known: AnyDefinition | undefined },
  { create, ifRevision }: SaveTerms,
): void {
  if (create === true && known !== undefined) throw existsError(id)
  if (ifRevision === undefined || ifRevision === null || ifRevision === (known?.revision ?? 0)) return
  throw staleError(called, known?.revision ?? 0, ifRevision)
}

/** The warnings among findings. Throws the first error, with all errors as its details if there are more. */
function refuseErrors(findings: readonly Finding[]): readonly Finding[] {
  const errors = findings.filter((one) => one.severity === 'error')
  const [first] = errors
  if (first === undefined) return findings
  const { code, detail, path, hint, agent } = first
  const details = errors.length === 1 ? { agent } : { agent, findings: errors }
  throw new WitanError(code, detail, { path, hint, details })
}
