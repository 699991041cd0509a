/** Agents as data: list, save, delete, check. Every save is checked, and every revision is kept. */
import {
  type AgentData,
  type CheckReport,
  type Finding,
  type StoredAgent,
  isWitanError,
  WitanError,
} from '@witan/protocol'
import { type CheckContext, checkAgent, checkAll } from '../check/check.ts'
import { listedBy, reachable } from '../check/graph.ts'
import { type Inspected, inspectAgent } from '../inspect.ts'
import { parseAgent } from '../parse.ts'
import type { AgentChange, AgentRecords, AgentRow } from '../records.ts'
import { idOfNamed, type Registry } from '../registry.ts'

/** What the desk of one database works with. */
export interface DeskContext {
  readonly database: string
  readonly registry: Registry
  readonly records: AgentRecords
  readonly check: CheckContext
}

/** What a save came to. */
export interface Saved {
  readonly agent: StoredAgent
  readonly created: boolean
}

/** On what terms an agent is saved: only over a certain revision, or only where its id is free. */
export interface SaveTerms {
  readonly ifRevision?: number | null
  readonly create?: boolean
}

/** How to save, and who owns it. `each` has the terms of single agents of a batch, in place of the common ones. */
export interface SaveOptions extends SaveTerms {
  readonly source?: 'code' | 'data'
  readonly each?: ReadonlyMap<string, SaveTerms>
}

/** An agent as readers get it. */
export function toStored(row: AgentRow): StoredAgent {
  return { ...row.data, revision: row.revision, source: row.source, warnings: [...row.warnings] }
}

/** The stored agent. Throws `NOT_FOUND`. */
export async function getAgent(desk: DeskContext, id: string): Promise<AgentRow> {
  const known = await idOfNamed(desk.registry, desk.database, id)
  const row = known === id ? desk.registry.rows(desk.database).get(id) : undefined
  if (row === undefined) throw notFound(id)
  return row
}

function notFound(id: string): WitanError {
  return new WitanError('NOT_FOUND', `There is no agent \`${id.slice(0, 80)}\`.`, {
    hint: 'GET /api/v1/agents lists the agents.',
  })
}

const mostLooks = 5

/** What this process knows of agents may be a moment old: it refuses only what the store, looked at again, refuses too. */
export async function lookingAgain<Result>(desk: DeskContext, work: () => Promise<Result>): Promise<Result> {
  for (let looks = 1; ; looks += 1) {
    try {
      return await work()
    } catch (error) {
      if (!isWitanError(error) || looks === mostLooks || !(await desk.registry.refresh(desk.database))) throw error
    }
  }
}

/** Saves agents all or nothing. Throws the first error found; warnings are kept with the agents. A save that changes nothing makes no revision. */
export async function saveAgents(
  desk: DeskContext,
  inputs: readonly unknown[],
  options: SaveOptions = {},
): Promise<readonly Saved[]> {
  const parsed = inputs.map(readAgent)
  refuseDoubles(parsed)
  await desk.registry.ensure(desk.database)
  return lookingAgain(desk, () => save(desk, parsed, options))
}

async function save(desk: DeskContext, parsed: readonly AgentData[], options: SaveOptions): Promise<readonly Saved[]> {
  const rows = desk.registry.rows(desk.database)
  const all = new Map([...rows].map(([id, row]): [string, AgentData] => [id, row.data]))
  for (const agent of parsed) all.set(agent.id, agent)
  const changes: AgentChange[] = []
  for (const agent of parsed) {
    const known = rows.get(agent.id)
    refuseStale(agent, known, options.each?.get(agent.id) ?? options)
    const findings = await checkAgent(agent, all, desk.check)
    const error = findings.find((finding) => finding.severity === 'error')
    if (error !== undefined) throw findingError(error)
    changes.push(await changeOf(desk, { agent, known, findings }, options))
  }
  const real = changes.filter(({ row, ifRevision }) => row?.revision !== ifRevision)
  if (real.length > 0 && !(await desk.records.changeAgents(desk.database, real))) {
    throw new WitanError('REVISION_MISMATCH', 'An agent was changed meanwhile; nothing was saved.', {
      hint: 'Read it again and repeat the change.',
    })
  }
  for (const { id, row } of real) desk.registry.put(desk.database, id, row)
  return changes.map(({ row, ifRevision }) => ({ agent: toStored(row as AgentRow), created: ifRevision === 0 }))
}

async function changeOf(
  desk: DeskContext,
  save: { agent: AgentData; known: AgentRow | undefined; findings: Finding[] },
  options: SaveOptions,
): Promise<AgentChange> {
  const { agent, known, findings } = save
  const { id } = agent
  const source = options.source ?? 'data'
  if (known !== undefined && known.source === source && JSON.stringify(known.data) === JSON.stringify(agent)) {
    return { id, ifRevision: known.revision, row: known }
  }
  const last = known?.revision ?? (await desk.records.lastAgentRevision(desk.database, id))
  const row: AgentRow = { database: desk.database, id, revision: last + 1, source, data: agent, warnings: findings }
  return { id, ifRevision: known?.revision ?? 0, row }
}

/** Parses an agent as somebody sent it. It may carry what a read gave; that is ignored. */
export function readAgent(input: unknown): AgentData {
  return parseAgent(withoutStored(input))
}

function withoutStored(input: unknown): unknown {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return input
  const { revision: _r, source: _s, warnings: _w, ...rest } = input as Record<string, unknown>
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

/** What somebody hears who creates an agent whose id is taken. */
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

/** Deletes an agent. Throws `AGENT_REFERENCED` while others list it, unless forced. Runs under way keep their revision [C8]. */
export async function deleteAgent(
  desk: DeskContext,
  id: string,
  options: { force?: boolean; ifRevision?: number | null } = {},
): Promise<void> {
  await desk.registry.ensure(desk.database)
  await lookingAgain(desk, () => remove(desk, id, options))
}

async function remove(
  desk: DeskContext,
  id: string,
  options: { force?: boolean; ifRevision?: number | null },
): Promise<void> {
  const row = await getAgent(desk, id)
  const { ifRevision = null, force = false } = options
  if (ifRevision !== null && ifRevision !== row.revision) {
    throw new WitanError('REVISION_MISMATCH', `Agent \`${id}\` is at revision ${row.revision}, not ${ifRevision}.`, {
      hint: 'Read it again and repeat the change.',
    })
  }
  const parents = listedBy(id, currentAgents(desk))
  if (parents.length > 0 && !force) {
    throw new WitanError(
      'AGENT_REFERENCED',
      `Agent \`${id}\` is listed by ${parents.map((one) => `\`${one}\``).join(', ')}.`,
      { hint: 'Take it out of those agents first, or delete with ?force=true.' },
    )
  }
  if (!(await desk.records.changeAgents(desk.database, [{ id, ifRevision: row.revision, row: null }]))) {
    throw new WitanError('REVISION_MISMATCH', `Agent \`${id}\` was changed meanwhile.`, {
      hint: 'Read it again and repeat the change.',
    })
  }
  desk.registry.put(desk.database, id, null)
}

function currentAgents(desk: DeskContext): Map<string, AgentData> {
  return new Map([...desk.registry.rows(desk.database)].map(([id, row]) => [id, row.data]))
}

/** Checks these agents together with the stored ones; without any, the stored ones. Whatever is wrong with the form of one is a finding too, and the rest of it is checked all the same. */
export async function checkAgents(desk: DeskContext, inputs?: readonly unknown[]): Promise<CheckReport> {
  await desk.registry.ensure(desk.database)
  const all = currentAgents(desk)
  const checked = new Map<string, AgentData>(inputs === undefined ? all : [])
  const looks = new Map<string, Inspected>()
  const bad: Finding[] = []
  for (const [index, input] of (inputs ?? []).entries()) {
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
  for (const [id, agent] of checked) all.set(id, agent)
  const report = await checkAll([...checked.values()], all, desk.check)
  const isNews = (finding: Finding) => looks.get(finding.agent)?.isTold(finding) !== true
  return { ...report, errors: [...bad, ...report.errors.filter(isNews)], warnings: report.warnings.filter(isNews) }
}

function formFinding(agent: string, { code, message, path, hint }: WitanError): Finding {
  return { code, severity: 'error', agent, path: path ?? '', detail: message, hint: hint ?? '' }
}

/** What can be reached from one agent, as nodes and edges. */
export async function graphOf(desk: DeskContext, id: string) {
  const row = await getAgent(desk, id)
  const agents = reachable(row.data, currentAgents(desk))
  return {
    nodes: agents.map((agent) => ({ id: agent.id, name: agent.name ?? agent.id, kind: 'agent' })),
    edges: agents.flatMap((agent) =>
      agent.subAgents.map((edge) => ({
        from: agent.id,
        to: edge.agent,
        kind: 'subAgents',
        description: edge.description,
      })),
    ),
  }
}
