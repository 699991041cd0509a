/** Agents in the order of lists: first those that no other agent lists, then by name; and the sign of an agent. */
import type { StoredAgent } from '@witan/protocol'
import type { AgentView } from '@witan/protocol/access'
import { canBegin, type AgentEdge, agentEdgesOf, type EdgeLists, noEdges } from '@witan/protocol/edges'

/** What an agent's place in a list and its sign depend on. */
export type KnownAgent = Pick<StoredAgent, 'id' | 'name'> & EdgeLists

/** Replaces what only readers and admins are shown of an agent. No stored agent has this revision. */
const unseen = {
  ...{ model: '', modelKind: 'language', instructions: '', revision: 0, source: 'data', disabled: false },
  ...noEdges,
  ...{ queries: [], actions: [], tools: [], warnings: [] },
} as const

/** An agent with all fields. A caller may be shown only how to call it, and an older server lists fewer kinds of edges. */
export function asStored(agent: AgentView | StoredAgent): StoredAgent {
  return { ...unseen, ...agent } as unknown as StoredAgent
}

/** Whether only how to call it is known of an agent. */
export function isOnlyCalled({ revision }: Pick<StoredAgent, 'revision'>): boolean {
  return revision === unseen.revision
}

/** Agents in two groups, each by name. `roots`: those that no other agent lists; empty if all are listed. */
interface ArrangedAgents<Agent> {
  readonly roots: readonly Agent[]
  readonly others: readonly Agent[]
}

/** Arranges agents for a list. */
export function arrangeAgents<Agent extends KnownAgent>(agents: readonly Agent[]): ArrangedAgents<Agent> {
  const listed = new Set(
    agents.flatMap((agent) => edgesFrom(agent).flatMap((edge) => (edge.agent === agent.id ? [] : edge.agent))),
  )
  const sorted = agents.toSorted(byName)
  return { roots: sorted.filter(({ id }) => !listed.has(id)), others: sorted.filter(({ id }) => listed.has(id)) }
}

/** The edges by which an agent can call others or write to them. */
export function edgesFrom(agent: EdgeLists): readonly AgentEdge[] {
  return agentEdgesOf(agent).filter(canBegin)
}

/** Both groups in one list. */
export function inOrder<Agent>({ roots, others }: ArrangedAgents<Agent>): readonly Agent[] {
  return [...roots, ...others]
}

function byName(one: KnownAgent, other: KnownAgent): number {
  return (one.name ?? one.id).localeCompare(other.name ?? other.id) || (one.id < other.id ? -1 : 1)
}

/** How an agent is shown: its name, and the letter and hue (in degrees) of its sign. */
export interface AgentLook {
  readonly name: string
  readonly letter: string
  readonly hue: number
}

/** The look of an agent: its colour depends on its id alone, on every page and after every restart. */
export function lookOf(id: string, name = id): AgentLook {
  const letter = /[\p{L}\p{N}]/u.exec(name)?.[0] ?? /[\p{L}\p{N}]/u.exec(id)?.[0] ?? '?'
  return { name, letter: letter.toLocaleUpperCase(), hue: degrees(hash(id) % hues) }
}

/** The looks of all agents. */
export function looksOf(agents: readonly KnownAgent[]): ReadonlyMap<string, AgentLook> {
  return new Map(agents.map(({ id, name }) => [id, lookOf(id, name)]))
}

/** Hues ten degrees apart: the id alone decides, so an agent keeps its colour whoever is added. Few agents of a screen share one. */
const hues = 36

function degrees(at: number): number {
  return (at * 360) / hues
}

function hash(id: string): number {
  let value = 2166136261
  for (const char of id) value = Math.imul(value ^ (char.codePointAt(0) ?? 0), 16777619)
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b)
  return (value ^ (value >>> 13)) >>> 0
}
