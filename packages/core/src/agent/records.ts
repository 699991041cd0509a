/** The storage of agents: the part of a store that the registry uses. */
import type { AgentData, Finding } from '@witan/protocol'

/** One revision of an agent. */
export interface AgentRow {
  readonly database: string
  readonly id: string
  readonly revision: number
  readonly source: 'code' | 'data'
  readonly data: AgentData
  readonly warnings: readonly Finding[]
}

/** A change of one agent: its expected current revision (0: none), and the new row, or null to delete it. */
export interface AgentChange {
  readonly id: string
  readonly ifRevision: number
  readonly row: AgentRow | null
}

/** Agents by id. Every revision is kept: a run continues with the revision that it started with [C8]. */
export interface AgentRecords {
  /** All current agents of a database, by id. */
  listAgents(database: string): Promise<readonly AgentRow[]>
  /** Every id that an agent of the database has, or had before it was deleted, sorted by character code. */
  listAgentIds(database: string): Promise<readonly string[]>
  /** A certain revision, or null. Revisions survive the deletion of their agent. */
  getAgentRevision(database: string, id: string, revision: number): Promise<AgentRow | null>
  /** The highest revision that this id ever had, or 0. An agent that is created again continues the count. */
  lastAgentRevision(database: string, id: string): Promise<number>
  /** Applies all of the changes or none; false if an expected revision is no longer current. */
  changeAgents(database: string, changes: readonly AgentChange[]): Promise<boolean>
}
