/** What an apply would do: which agents, knowledge bases and protocols are new, which change and how, which go. Nothing is changed here. */
import type { Client } from '@witan/client'
import { parseAgent } from '@witan/core'
import { type Inspected, inspectAgent } from '@witan/core/tooling'
import type { AgentData, Finding, StoredAgent } from '@witan/protocol'
import { WitanError } from '@witan/protocol'
import { agentEdgesOf } from '@witan/protocol/edges'
import { withoutStored } from '@witan/protocol/schemas'
import { planBases, type PlannedBase } from './bases.ts'
import { changesBetween } from './diff.ts'
import { type Planned, type Trouble, troubleOf, twiceError } from './planned.ts'
import { type PlannedProtocol, planProtocols } from './protocols.ts'
import type { Written } from './source.ts'

/** The plan of one apply. `pruned` are the stored agents to delete. With an error nothing changes. */
export interface Plan {
  readonly planned: readonly Planned[]
  readonly protocols: readonly PlannedProtocol[]
  readonly bases: readonly PlannedBase[]
  readonly pruned: readonly StoredAgent[]
  readonly errors: readonly Trouble[]
  readonly warnings: readonly Trouble[]
}

/** Reads the stored agents, and has the server check the files together with them: it reports all mistakes at once, by line. */
export async function planOf(
  client: Client,
  written: readonly Written[],
  { prune }: { readonly prune: boolean },
): Promise<Plan> {
  const protocols = await planProtocols(client, written)
  const bases = await planBases(client, written)
  const { agents, errors } = readAgents(written.filter(({ kind }) => kind === 'agent'))
  const stored = await storedAgents(client)
  const pruned = prune ? [...stored.values()].filter(({ id, source }) => source === 'data' && !agents.has(id)) : []
  const data = protocols.planned.map((one) => one.data)
  const report = await client.agents.check(
    [...agents.values()].map(({ agent }) => agent),
    data.length === 0 ? undefined : data,
    bases.planned.length === 0 ? undefined : bases.planned.map((one) => one.data),
  )
  const placed = (finding: Finding): Trouble => ({
    ...finding,
    place: agents.get(finding.agent)?.written.place(finding.path) ?? protocols.place(finding.path) ?? finding.agent,
  })
  const isUnread = unreadIn({ PROTOCOL_UNKNOWN: protocols.errors, KNOWLEDGE_UNKNOWN: bases.errors })
  const isNews = (finding: Finding) => {
    const read = agents.get(finding.agent)
    return read === undefined || !(read.isReported(finding) || isUnread(finding, read.agent))
  }
  const found = [...report.errors.filter(isNews), ...held(pruned, { agents, stored })].map(placed)
  const wrong = [...errors, ...protocols.errors, ...bases.errors, ...found]
  if (wrong.length > 0)
    return { planned: [], protocols: [], bases: [], pruned: [], errors: byPlace(wrong, written), warnings: [] }
  const planned = [...agents.values()].map(({ agent }) => plannedOf(agent, stored.get(agent.id) ?? null))
  const changing = new Set(planned.filter(({ changes }) => changes.length > 0).map(({ name }) => name))
  const isNew = (one: Finding) => changing.has(one.agent) || (changing.size > 0 && !isKept(one, stored.get(one.agent)))
  const warnings = report.warnings.filter(isNew).map(placed)
  return {
    planned,
    protocols: protocols.planned,
    bases: bases.planned,
    pruned,
    errors: [],
    warnings: byPlace(warnings, written),
  }
}

/** Whether a finding misses what the files have in a wrong form, by the errors of what its code misses: that is reported already. */
function unreadIn(errors: Readonly<Record<string, readonly Trouble[]>>) {
  const unread = Object.entries(errors).map(([code, list]) => [code, new Set(list.map(({ agent }) => agent))] as const)
  const names = new Map(unread)
  return ({ code, path }: Finding, agent: AgentData): boolean => {
    let value: unknown = agent
    for (const step of path.split('.')) value = (value as Readonly<Record<string, unknown>> | null | undefined)?.[step]
    const name = typeof value === 'object' ? (value as { readonly id?: unknown } | null)?.id : value
    return names.get(code)?.has(String(name)) === true
  }
}

/** Whether an agent was saved with that warning: a change of one agent may bring one for another that stays as it is. */
function isKept({ code, path, detail }: Finding, stored: StoredAgent | undefined): boolean {
  return stored?.warnings.some((one) => one.code === code && one.path === path && one.detail === detail) ?? false
}

/** Sorts by file, in the given order, and by line; findings without a file come last. Removes duplicates. */
function byPlace(troubles: readonly Trouble[], written: readonly Written[]): readonly Trouble[] {
  const files = [...new Set(written.map(({ place }) => placeOf(place('')).file))]
  const rank = ({ place }: Trouble): readonly [number, number] => {
    const { file, line } = placeOf(place)
    return [files.includes(file) ? files.indexOf(file) : files.length, line]
  }
  const each = new Map(troubles.map((one) => [`${one.place} ${one.code} ${one.path} ${one.detail}`, one]))
  return [...each.values()].sort((one, other) => {
    const [file, line] = rank(one)
    const [otherFile, otherLine] = rank(other)
    return file - otherFile || line - otherLine
  })
}

function placeOf(place: string): { readonly file: string; readonly line: number } {
  const [, file = place, line = '0'] = /^(.*):(\d+)$/.exec(place) ?? []
  return { file, line: Number(line) }
}

/** All agents of the database by id. */
export async function storedAgents(client: Client): Promise<ReadonlyMap<string, StoredAgent>> {
  const stored = new Map<string, StoredAgent>()
  for await (const agent of client.agents.all()) stored.set(agent.id, agent)
  return stored
}

type Read = ReadonlyMap<
  string,
  { readonly agent: AgentData; readonly written: Written; readonly isReported: Inspected['isReported'] }
>

/** Every agent with a readable id and a valid form, and all mistakes in the forms. */
function readAgents(written: readonly Written[]): { readonly agents: Read; readonly errors: readonly Trouble[] } {
  const agents = new Map<string, { agent: AgentData; written: Written; isReported: Inspected['isReported'] }>()
  const errors: Trouble[] = []
  for (const one of written) {
    const { problems, agent, isReported } = inspect(one.value)
    const first = agent === null ? undefined : agents.get(agent.id)
    const twice = first === undefined || agent === null ? [] : [twiceError(agent.id, first.written)]
    errors.push(...[...problems, ...twice].map((problem) => troubleOf(problem, one)))
    if (agent === null || first !== undefined) continue
    // As it will be stored: as JSON carries it.
    agents.set(agent.id, { agent: JSON.parse(JSON.stringify(agent)) as AgentData, written: one, isReported })
  }
  return { agents, errors }
}

function inspect(value: unknown): Inspected {
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return inspectAgent(withoutStored(value as StoredAgent))
  const problem = new WitanError('AGENT_INVALID', 'This is not an agent.', {
    hint: 'Write a mapping with id, model and instructions. Several agents are a list, or stand under `agents`.',
  })
  return { problems: [problem], agent: null, isReported: () => false }
}

function plannedOf(agent: AgentData, stored: StoredAgent | null): Planned {
  const blank = { id: agent.id, model: 'none', instructions: '' }
  const before =
    stored === null ? { ...parseAgent(blank), model: agent.workflow === null ? undefined : '' } : withoutStored(stored)
  const changes = changesBetween(before, agent)
  return { name: agent.id, data: agent, stored, changes }
}

/** An error for each edge from an agent that stays to one that --prune would delete. */
function held(
  pruned: readonly StoredAgent[],
  { agents, stored }: { readonly agents: Read; readonly stored: ReadonlyMap<string, StoredAgent> },
): readonly Finding[] {
  const goes = new Set(pruned.map(({ id }) => id))
  const stays = [...stored.values(), ...[...agents.values()].map(({ agent }) => agent)].filter(
    ({ id }, index) => !goes.has(id) && (index >= stored.size || !agents.has(id)),
  )
  return stays.flatMap((agent) =>
    agentEdgesOf(agent)
      .filter((edge) => goes.has(edge.agent))
      .map((edge) => ({
        code: 'AGENT_REFERENCED',
        severity: 'error',
        agent: agent.id,
        path: edge.agentAt,
        detail: `Agent \`${agent.id}\` lists \`${edge.agent}\`, which --prune would delete.`,
        hint: `Add \`${edge.agent}\` to the files, or take it out of \`${agent.id}\`.`,
      })),
  )
}
