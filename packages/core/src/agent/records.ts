/** The storage of definitions, agents and protocols: the part of a store that the registry uses. */
import type { AgentData, Finding } from '@witan/protocol'
import type { Protocol } from '@witan/protocol/protocols'
import type { Changed } from '../identity/changed.ts'

/** One revision of a definition. */
interface DefinitionRow<Data> {
  readonly database: string
  readonly id: string
  readonly revision: number
  readonly source: 'code' | 'data'
  readonly data: Data
  readonly warnings: readonly Finding[]
  /** Who made this revision; null if an earlier version stored it. */
  readonly changed: Changed | null
}

/** One revision of an agent. */
export type AgentRow = DefinitionRow<AgentData>

/** One revision of a protocol. Its id is `protocol:<name>`, which no agent can have: both share tables, revisions and changes. */
export type ProtocolRow = DefinitionRow<Protocol>

const protocolMark = 'protocol:'

/** The id of a protocol among the definitions, such as in the revisions that a run keeps. */
export function protocolId(name: string): string {
  return `${protocolMark}${name}`
}

/** The name of the protocol with that id; null for an agent's id. */
export function nameOfProtocol(id: string): string | null {
  return id.startsWith(protocolMark) ? id.slice(protocolMark.length) : null
}

/** Whether a row is a protocol's. */
export function isProtocolRow(row: AgentRow | ProtocolRow): row is ProtocolRow {
  return row.id.startsWith(protocolMark)
}

/** A change of one definition: its expected current revision (0: none), and the new row, or null to delete it. */
export interface AgentChange {
  readonly id: string
  readonly ifRevision: number
  readonly row: AgentRow | ProtocolRow | null
}

/** Reads definitions by id. Every revision is kept: a run continues with the revision that it started with [C8]. */
export interface AgentReading {
  /** All current definitions of a database, by id. */
  listAgents(database: string): Promise<readonly (AgentRow | ProtocolRow)[]>
  /** Every id that a definition of the database has, or had before it was deleted, sorted by character code. */
  listAgentIds(database: string): Promise<readonly string[]>
  /** A certain revision, or null. Revisions survive the deletion of their definition. */
  getAgentRevision(database: string, id: string, revision: number): Promise<AgentRow | ProtocolRow | null>
  /** The highest revision that this id ever had, or 0. A definition that is created again continues the count. */
  lastAgentRevision(database: string, id: string): Promise<number>
}

/** Definitions as an administrator reads and changes them. */
export interface AgentRecords extends AgentReading {
  /** Applies all of the changes and writes them to the audit, or nothing; false if an expected revision is no longer current. */
  changeAgents(database: string, changes: readonly AgentChange[], changed: Changed): Promise<boolean>
  /** Resolves once what can be read now is as durable as a change. */
  confirmStored(database: string): Promise<void>
}
