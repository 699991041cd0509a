/** Agents as data: list, save, delete, check. Every save is checked, and every revision is kept. */
import {
  type AgentData,
  type CheckReport,
  type Finding,
  type StoredAgent,
  isWitanError,
  WitanError,
} from '@witan/protocol'
import { type CheckContext, checkAgent, checkAll, surveyOf } from '../check/check.ts'
import { listedBy } from '../check/graph.ts'
import { inTurns, type Steps } from '../check/steps.ts'
import { type Inspected, inspectAgent } from '../inspect.ts'
import { parseAgent } from '../parse.ts'
import { listedByParents } from '../seed.ts'
import type { AgentChange, AgentRecords, AgentRow } from '../records.ts'
import { idOfNamed, type Registry } from '../registry.ts'
import { notFound } from '../../identity/not-found.ts'

/** What the admin of one database works with. */
export interface AdminContext {
  readonly database: string
  readonly registry: Registry
  readonly records: AgentRecords
  readonly check: CheckContext
  /** The kind of the model with that name; null if this process has no such model. */
  modelKind(name: string): StoredAgent['modelKind']
}

/** The result of a save. */
export interface Saved {
  readonly agent: StoredAgent
  readonly created: boolean
}

/** The precondition of a save: a certain current revision, or a free id. */
export interface SaveTerms {
  readonly ifRevision?: number | null
  readonly create?: boolean
}

/** How to save, and who owns the agents. `each` replaces the common terms for single agents of a batch. */
export interface SaveOptions extends SaveTerms {
  readonly source?: 'code' | 'data'
  readonly each?: ReadonlyMap<string, SaveTerms>
}

/** An agent in the form that readers get. */
export function toStored(admin: Pick<AdminContext, 'modelKind'>, row: AgentRow): StoredAgent {
  const { data, revision, source, warnings } = row
  return { ...data, revision, source, warnings: [...warnings], modelKind: admin.modelKind(data.model) }
}

/** The stored agent. Throws `NOT_FOUND`. */
export async function getAgent(admin: AdminContext, id: string): Promise<AgentRow> {
  const known = await idOfNamed(admin.registry, admin.database, id)
  const row = known === id ? admin.registry.rows(admin.database).get(id) : undefined
  if (row === undefined) throw notFound('agent', id)
  return row
}

const mostLooks = 5

/** The cached agents of this process may be stale. A refusal is final only after the agents are reloaded and refused again. */
export async function lookingAgain<Result>(admin: AdminContext, work: () => Promise<Result>): Promise<Result> {
  for (let looks = 1; ; looks += 1) {
    try {
      return await work()
    } catch (error) {
      if (!isWitanError(error) || looks === mostLooks || !(await admin.registry.refresh(admin.database))) throw error
    }
  }
}

/**
 * Saves agents, all or none. Throws the first error found; warnings are stored with the agents. A save that changes nothing
 * creates no revision.
 */
export async function saveAgents(
  admin: AdminContext,
  inputs: readonly unknown[],
  options: SaveOptions = {},
): Promise<readonly Saved[]> {
  const parsed = await inTurns(readAgents(inputs))
  refuseDoubles(parsed)
  await admin.registry.ensure(admin.database)
  return lookingAgain(admin, () => save(admin, parsed, options))
}

/**
 * Saves the agents of the code, as `source: code`, and adds each to the rosters of the parents that it names, stored
 * parents included [F10]. A stored parent that cannot list it is left unchanged; `report` gets the reason.
 */
export async function seedAgents(
  admin: AdminContext,
  agents: readonly object[],
  report: (error: unknown) => void,
): Promise<void> {
  await saveAgents(admin, listedByParents(agents, agents), { source: 'code' })
  const seeded = new Set(agents.map((agent) => (agent as { readonly id?: unknown }).id))
  for (const { id, data, source } of [...admin.registry.rows(admin.database).values()]) {
    const [parent = data] = seeded.has(id) ? [] : listedByParents([data], agents)
    if (parent !== data) await saveAgents(admin, [parent], { source }).catch(report)
  }
}

async function save(
  admin: AdminContext,
  parsed: readonly AgentData[],
  options: SaveOptions,
): Promise<readonly Saved[]> {
  const rows = admin.registry.rows(admin.database)
  const all = new Map([...rows].map(([id, row]): [string, AgentData] => [id, row.data]))
  for (const agent of parsed) all.set(agent.id, agent)
  const changes: AgentChange[] = []
  const survey = await surveyOf(parsed, all, admin.check)
  for (const agent of parsed) {
    const known = rows.get(agent.id)
    refuseStale(agent, known, options.each?.get(agent.id) ?? options)
    const findings = await checkAgent(agent, survey)
    const error = findings.find((finding) => finding.severity === 'error')
    if (error !== undefined) throw findingError(error)
    changes.push(await changeOf(admin, { agent, known, findings }, options))
  }
  const real = changes.filter(({ row, ifRevision }) => row?.revision !== ifRevision)
  if (real.length > 0 && !(await admin.records.changeAgents(admin.database, real))) {
    throw new WitanError('REVISION_MISMATCH', 'An agent was changed meanwhile; nothing was saved.', {
      hint: 'Read it again and repeat the change.',
    })
  }
  for (const { id, row } of real) admin.registry.put(admin.database, id, row)
  return changes.map(({ row, ifRevision }) => ({ agent: toStored(admin, row as AgentRow), created: ifRevision === 0 }))
}

async function changeOf(
  admin: AdminContext,
  save: { agent: AgentData; known: AgentRow | undefined; findings: Finding[] },
  options: SaveOptions,
): Promise<AgentChange> {
  const { agent, known, findings } = save
  const { id } = agent
  const source = options.source ?? 'data'
  if (known !== undefined && known.source === source && JSON.stringify(known.data) === JSON.stringify(agent)) {
    return { id, ifRevision: known.revision, row: known }
  }
  const last = known?.revision ?? (await admin.records.lastAgentRevision(admin.database, id))
  const row: AgentRow = { database: admin.database, id, revision: last + 1, source, data: agent, warnings: findings }
  return { id, ifRevision: known?.revision ?? 0, row }
}

/** Parses a submitted agent. Fields that a read adds are ignored. */
export function readAgent(input: unknown): AgentData {
  return parseAgent(withoutStored(input))
}

const stepsOfParsing = 50

function* readAgents(inputs: readonly unknown[]): Steps<AgentData[]> {
  const agents: AgentData[] = []
  for (const input of inputs) {
    yield stepsOfParsing
    agents.push(readAgent(input))
  }
  return agents
}

function withoutStored(input: unknown): unknown {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return input
  const { revision: _r, source: _s, warnings: _w, modelKind: _m, ...rest } = input as Record<string, unknown>
  return rest
}

function refuseDoubles(agents: readonly AgentData[]): void {
  const seen = new Set<string>()
  for (const [index, { id }] of agents.entries()) {
    if (seen.has(id)) throw doubleError(id, index)
    seen.add(id)
  }
}

function doubleError(id: string, index: number): WitanError {
  return new WitanError('NAME_TAKEN', `Agent \`${id}\` is in the batch twice.`, {
    path: `agents.${index}.id`,
    hint: 'Send each agent once.',
  })
}

/** The error for a create whose id is taken. */
export function existsError(id: string): WitanError {
  return new WitanError('AGENT_EXISTS', `Agent \`${id}\` exists already.`, {
    path: 'id',
    hint: `PUT /api/v1/agents/${id} changes it.`,
  })
}

function refuseStale(agent: AgentData, known: AgentRow | undefined, { create, ifRevision }: SaveTerms): void {
  if (create === true && known !== undefined) throw existsError(agent.id)
  if (ifRevision === undefined || ifRevision === null || ifRevision === (known?.revision ?? 0)) return
  throw new WitanError(
    'REVISION_MISMATCH',
    `Agent \`${agent.id}\` is at revision ${known?.revision ?? 0}, not ${ifRevision}.`,
    { hint: 'Read it again and repeat the change.' },
  )
}

function findingError(finding: Finding): WitanError {
  return new WitanError(finding.code as WitanError['code'], finding.detail, {
    path: finding.path,
    hint: finding.hint,
    details: { agent: finding.agent },
  })
}

/** Deletes an agent. Throws `AGENT_REFERENCED` while others list it, unless forced. Active runs keep their revision [C8]. */
export async function deleteAgent(
  admin: AdminContext,
  id: string,
  options: { force?: boolean; ifRevision?: number | null } = {},
): Promise<void> {
  await admin.registry.ensure(admin.database)
  await lookingAgain(admin, () => remove(admin, id, options))
}

async function remove(
  admin: AdminContext,
  id: string,
  options: { force?: boolean; ifRevision?: number | null },
): Promise<void> {
  const row = await getAgent(admin, id)
  const { ifRevision = null, force = false } = options
  if (ifRevision !== null && ifRevision !== row.revision) {
    throw new WitanError('REVISION_MISMATCH', `Agent \`${id}\` is at revision ${row.revision}, not ${ifRevision}.`, {
      hint: 'Read it again and repeat the change.',
    })
  }
  const parents = listedBy(id, currentAgents(admin))
  if (parents.length > 0 && !force) {
    throw new WitanError(
      'AGENT_REFERENCED',
      `Agent \`${id}\` is listed by ${parents.map((one) => `\`${one}\``).join(', ')}.`,
      { hint: 'Take it out of those agents first, or delete with ?force=true.' },
    )
  }
  if (!(await admin.records.changeAgents(admin.database, [{ id, ifRevision: row.revision, row: null }]))) {
    throw new WitanError('REVISION_MISMATCH', `Agent \`${id}\` was changed meanwhile.`, {
      hint: 'Read it again and repeat the change.',
    })
  }
  admin.registry.put(admin.database, id, null)
}

/** The agents of the database as this process knows them. */
export function currentAgents(admin: AdminContext): Map<string, AgentData> {
  return new Map([...admin.registry.rows(admin.database)].map(([id, row]) => [id, row.data]))
}

/**
 * Checks these agents together with the stored ones; without any, checks the stored ones. An error of form is a finding
 * too, and the rest of that agent is still checked.
 */
export async function checkAgents(admin: AdminContext, inputs?: readonly unknown[]): Promise<CheckReport> {
  await admin.registry.ensure(admin.database)
  const all = currentAgents(admin)
  const { checked, looks, bad } = await inTurns(inspectAgents(inputs ?? []))
  if (inputs === undefined) for (const [id, agent] of all) checked.set(id, agent)
  for (const [id, agent] of checked) all.set(id, agent)
  const report = await checkAll([...checked.values()], all, admin.check)
  const isNews = (finding: Finding) => looks.get(finding.agent)?.isTold(finding) !== true
  return { ...report, errors: [...bad, ...report.errors.filter(isNews)], warnings: report.warnings.filter(isNews) }
}

interface Inspection {
  readonly checked: Map<string, AgentData>
  readonly looks: ReadonlyMap<string, Inspected>
  readonly bad: readonly Finding[]
}

function* inspectAgents(inputs: readonly unknown[]): Steps<Inspection> {
  const checked = new Map<string, AgentData>()
  const looks = new Map<string, Inspected>()
  const bad: Finding[] = []
  for (const [index, input] of inputs.entries()) {
    yield stepsOfParsing
    const look = inspectAgent(withoutStored(input))
    const id = (input as { id?: unknown } | null)?.id
    const agent = typeof id === 'string' ? id.slice(0, 80) : `agents.${index}`
    bad.push(...look.problems.map((problem) => formFinding(agent, problem)))
    if (look.agent === null) continue
    if (checked.has(look.agent.id)) bad.push(formFinding(agent, doubleError(look.agent.id, index)))
    else {
      checked.set(look.agent.id, look.agent)
      looks.set(look.agent.id, look)
    }
  }
  return { checked, looks, bad }
}

function formFinding(agent: string, { code, message, path, hint }: WitanError): Finding {
  return { code, severity: 'error', agent, path: path ?? '', detail: message, hint: hint ?? '' }
}
