/** How agents are kept: the part of a store that the registry uses. */
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

/** A change of one agent: the revision that must be the current one (0: none), and the new row or null to delete. */
export interface AgentChange {
  readonly id: string
  readonly ifRevision: number
  readonly row: AgentRow | null
}

/** Agents by id, every revision kept: a run goes on with the one it started with [C8]. */
export interface AgentRecords {
  /** All current agents of a database, by id. */
  listAgents(database: string): Promise<readonly AgentRow[]>
  /** Every id that an agent of the database has, or had before it was deleted, in the order of their character codes. */
  listAgentIds(database: string): Promise<readonly string[]>
  /** A certain revision, or null. Revisions outlive the deletion of their agent. */
  getAgentRevision(database: string, id: string, revision: number): Promise<AgentRow | null>
  /** The highest revision ever given to this id, or 0: an agent that is made again goes on counting. */
  lastAgentRevision(database: string, id: string): Promise<number>
  /** All of the changes or none; false where a revision is not the current one any more. */
  changeAgents(database: string, changes: readonly AgentChange[]): Promise<boolean>
}
