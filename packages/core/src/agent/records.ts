/** The storage of definitions, agents, protocols and knowledge bases: the part of a store that the registry uses. */
import type { AgentData, Finding } from '@witan/protocol'
import type { KnowledgeBase } from '@witan/protocol/knowledge'
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
  /** Of a current definition: the revision that created it, behind all of a deleted one of its id. Default: 1. */
  readonly firstRevision?: number
}

/** One revision of an agent. */
export type AgentRow = DefinitionRow<AgentData>

/** One revision of a protocol. Its id is `protocol:<name>`, which no agent can have: all share tables, revisions and changes. */
export type ProtocolRow = DefinitionRow<Protocol>

/** One revision of a knowledge base. Its id is `knowledge:<id>`. */
export type BaseRow = DefinitionRow<KnowledgeBase>

/** One revision of a definition of any kind. */
export type AnyDefinition = AgentRow | ProtocolRow | BaseRow

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
export function isProtocolRow(row: AnyDefinition): row is ProtocolRow {
  return row.id.startsWith(protocolMark)
}

const baseMark = 'knowledge:'

/** The id of a knowledge base among the definitions. */
export function baseRowId(id: string): string {
  return `${baseMark}${id}`
}

/** The knowledge base with that id among the definitions; null for another definition. */
export function baseOfRowId(id: string): string | null {
  return id.startsWith(baseMark) ? id.slice(baseMark.length) : null
}

/** Whether a row is a knowledge base's. */
export function isBaseRow(row: AnyDefinition): row is BaseRow {
  return row.id.startsWith(baseMark)
}

/**
 * The name under which stores keep the documents of a base: its id, and behind a deletion also the revision that created it again. So the
 * documents of a deleted base are found no more, whenever they are cleared.
 */
export function documentsOf({ data, firstRevision = 1 }: Pick<BaseRow, 'data' | 'firstRevision'>): string {
  return firstRevision === 1 ? data.id : `${data.id}~${firstRevision}`
}

/** A change of one definition: its expected current revision (0: none), and the new row, or null to delete it. */
export interface AgentChange {
  readonly id: string
  readonly ifRevision: number
  readonly row: AnyDefinition | null
}

/** Reads definitions by id. Every revision is kept: a run continues with the revision that it started with [C8]. */
export interface AgentReading {
  /** All current definitions of a database, by id, each with its first revision. */
  listAgents(database: string): Promise<readonly AnyDefinition[]>
  /** Every id that a definition of the database has, or had before it was deleted, sorted by character code. */
  listAgentIds(database: string): Promise<readonly string[]>
  /** A certain revision, or null. Revisions survive the deletion of their definition. */
  getAgentRevision(database: string, id: string, revision: number): Promise<AnyDefinition | null>
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
