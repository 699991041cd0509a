/** The agents, protocols and knowledge bases of a process: current and pinned revisions, looked up synchronously once they are loaded. */
import type { AgentData } from '@witan/protocol'
import { agentEdgesOf } from '@witan/protocol/edges'
import { type KnowledgeBase, knowledgeBaseSchema, knowledgeUses } from '@witan/protocol/knowledge'
import type { Protocol } from '@witan/protocol/protocols'
import { agentSchema, protocolSchema } from '@witan/protocol/schemas'
import { mapInTurns } from '../identity/turn.ts'
import { idOf } from './naming.ts'
import {
  type AgentReading,
  type AgentRow,
  type AnyDefinition,
  type BaseRow,
  baseOfRowId,
  baseRowId,
  isBaseRow,
  isProtocolRow,
  nameOfProtocol,
  type ProtocolRow,
} from './records.ts'

/** The current definitions of one database: agents and knowledge bases by id, protocols by name. */
interface Definitions {
  readonly agents: ReadonlyMap<string, AgentRow>
  readonly protocols: ReadonlyMap<string, ProtocolRow>
  readonly bases: ReadonlyMap<string, BaseRow>
  /** What is stored may have gone back since they were read. */
  readonly isStale: boolean
}

interface OpenDefinitions {
  readonly agents: Map<string, AgentRow>
  readonly protocols: Map<string, ProtocolRow>
  readonly bases: Map<string, BaseRow>
  isStale: boolean
}

const nothing: Definitions = { agents: new Map(), protocols: new Map(), bases: new Map(), isStale: false }

/** What the registry has read. `stale` are the keys of revisions that must be read again. */
interface Kept {
  readonly databases: Map<string, OpenDefinitions>
  readonly loading: Map<string, Promise<readonly AnyDefinition[]>>
  readonly revisions: Map<string, AgentData | Protocol | KnowledgeBase>
  readonly stale: Set<string>
}

/** A cache over the records. Saves go through it, so its content matches the store. */
export class Registry {
  readonly #records: AgentReading
  readonly #kept: Kept = { databases: new Map(), loading: new Map(), revisions: new Map(), stale: new Set() }
  /** What each root reaches: computed once, and again when a definition changes. */
  reaches = new Map<string, Readonly<Record<string, number>>>()

  constructor(records: AgentReading) {
    this.#records = records
  }

  /** Loads the definitions of a database once. */
  async ensure(database: string): Promise<void> {
    const kept = this.#kept
    if (kept.databases.get(database)?.isStale === false) return
    const loading = kept.loading.get(database) ?? readAll(this.#records, database)
    kept.loading.set(database, loading)
    const rows = await loading
    if (kept.loading.get(database) !== loading) return this.ensure(database)
    kept.loading.delete(database)
    this.reaches = new Map()
    kept.databases.set(database, filled(rows, kept))
  }

  /** What is stored may have gone back: everything is read again before it is used. Until then what was known is still there. */
  again(): void {
    const { databases, loading, revisions, stale } = this.#kept
    loading.clear()
    for (const one of databases.values()) one.isStale = true
    for (const key of revisions.keys()) stale.add(key)
  }

  /**
   * Reloads the definitions of a loaded database, or of all: another process may have changed them. Returns true if one
   * changed.
   */
  async refresh(database: string | null = null): Promise<boolean> {
    let isNews = false
    for (const loaded of database === null ? [...this.#kept.databases.keys()] : [database]) {
      const known = this.#kept.databases.get(loaded)
      if (known === undefined) continue
      const { reaches } = this
      const rows = await readAll(this.#records, loaded)
      if (reaches !== this.reaches) return this.refresh(database) // what was put meanwhile is not among them
      isNews ||=
        rows.length !== known.agents.size + known.protocols.size + known.bases.size ||
        rows.some((row) => currentOf(known, row)?.revision !== row.revision)
      this.reaches = new Map()
      this.#kept.databases.set(loaded, filled(rows, this.#kept))
    }
    return isNews
  }

  /** The current definitions of a loaded database. */
  current(database: string): Definitions {
    return this.#kept.databases.get(database) ?? nothing
  }

  /** Caches a change that was just stored. */
  put(database: string, id: string, row: AnyDefinition | null): void {
    this.reaches = new Map()
    const known = this.#kept.databases.get(database)
    if (row === null) {
      known?.agents.delete(id)
      known?.protocols.delete(nameOfProtocol(id) ?? '')
      known?.bases.delete(baseOfRowId(id) ?? '')
      return
    }
    if (known !== undefined) putRow(known, row)
    keep(this.#kept, row)
  }

  /** A pinned revision of a definition. It must be current or loaded by `ensureRevision`; throws otherwise. */
  revision<Data extends AgentData | Protocol | KnowledgeBase = AgentData>(
    database: string,
    id: string,
    revision: number,
  ): Data {
    const row = this.#kept.databases.get(database)?.agents.get(id)
    if (row?.revision === revision) return row.data as Data // nearly always
    const data = this.#kept.revisions.get(revisionKey({ database, id, revision }))
    if (data === undefined) throw new Error(`revision ${revision} of ${id} is not loaded`)
    return data as Data
  }

  /**
   * Loads a revision that a log names. If its definition is unknown here, our list is stale: reload all. Throws if the
   * store no longer has the revision.
   */
  async ensureRevision(database: string, id: string, revision: number): Promise<void> {
    const { databases, revisions, stale } = this.#kept
    const key = revisionKey({ database, id, revision })
    const isKnown = () => revisions.has(key) && !stale.has(key)
    if (isKnown()) return
    const known = databases.get(database)
    if (known !== undefined && currentOf(known, { id }) === undefined) await this.refresh(database)
    if (isKnown()) return
    const row = await this.#records.getAgentRevision(database, id, revision)
    if (row === null) throw new Error(`revision ${revision} of agent ${id} is gone`)
    keep(this.#kept, upgraded(row))
  }
}

/** All definitions of a database as this version reads them. A database may have many, so other work goes on in between. */
async function readAll(records: AgentReading, database: string): Promise<readonly AnyDefinition[]> {
  return mapInTurns(await records.listAgents(database), upgraded)
}

function filled(rows: readonly AnyDefinition[], kept: Kept): OpenDefinitions {
  const found: OpenDefinitions = { agents: new Map(), protocols: new Map(), bases: new Map(), isStale: false }
  for (const row of rows) {
    putRow(found, row)
    keep(kept, row)
  }
  return found
}

function keep({ revisions, stale }: Kept, row: AnyDefinition): void {
  const key = revisionKey(row)
  revisions.set(key, row.data)
  stale.delete(key)
}

function putRow({ agents, protocols, bases }: OpenDefinitions, row: AnyDefinition): void {
  if (isProtocolRow(row)) protocols.set(row.data.name, row)
  else if (isBaseRow(row)) bases.set(row.data.id, row)
  else agents.set(row.id, row)
}

function currentOf({ agents, protocols, bases }: Definitions, { id }: { readonly id: string }) {
  return agents.get(id) ?? protocols.get(nameOfProtocol(id) ?? '') ?? bases.get(baseOfRowId(id) ?? '')
}

/**
 * The id that `word` refers to [C28]. An unknown word is looked up in the store: another process may have just saved the
 * agent.
 */
export async function idOfNamed(registry: Registry, database: string, word: string): Promise<string> {
  await registry.ensure(database)
  const id = idOf(word, registry.current(database).agents)
  if (registry.current(database).agents.has(id) || !(await registry.refresh(database))) return id
  return idOf(word, registry.current(database).agents)
}

/** An agent with the default of each key. */
const plainAgent = agentSchema.parse({ id: 'plain' })

/** Fills in the defaults of newer keys in a row that an earlier version stored. */
export function upgraded<Row extends AnyDefinition>(row: Row): Row {
  const schema = isProtocolRow(row) ? protocolSchema : isBaseRow(row) ? knowledgeBaseSchema : agentSchema
  const parsed = schema.safeParse(row.data)
  if (parsed.success) return { ...row, data: parsed.data }
  // What this version would not save any more still runs: where it goes wrong is for the part that uses it to say.
  return isProtocolRow(row) || isBaseRow(row) ? row : { ...row, data: { ...plainAgent, ...row.data } }
}

/** The current revisions of every agent that a root reaches, and of the protocols and knowledge bases that these name; a run is pinned to them. */
export function revisionsBelow(registry: Registry, database: string, root: string): Readonly<Record<string, number>> {
  const key = `${database}\n${root}`
  const known = registry.reaches.get(key)
  if (known !== undefined) return known
  const rows = registry.current(database).agents
  const { protocols, bases } = registry.current(database)
  const found: Record<string, number> = {}
  const open = [root]
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    const data = rows.get(id)?.data
    for (const { agent } of data === undefined ? [] : agentEdgesOf(data)) {
      const row = rows.get(agent)
      if (row === undefined || Object.hasOwn(found, agent)) continue
      found[agent] = row.revision
      open.push(agent)
    }
    for (const use of data === undefined ? [] : knowledgeUses(data)) {
      const row = bases.get(use.id)
      if (row !== undefined) found[baseRowId(use.id)] = row.revision
    }
    for (const { protocol } of data?.speaks ?? []) {
      const row = protocols.get(protocol)
      if (row !== undefined) found[row.id] = row.revision
      // A responder may write back to the root: its revision is kept too.
      const top = rows.get(root)
      if (top !== undefined) found[root] = top.revision
    }
  }
  registry.reaches.set(key, Object.freeze(found))
  return found
}

function revisionKey({ database, id, revision }: Pick<AgentRow, 'database' | 'id' | 'revision'>): string {
  return `${database}\n${id}\n${revision}`
}
