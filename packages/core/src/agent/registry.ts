/** The agents and protocols of a process: current and pinned revisions, looked up synchronously once they are loaded. */
import type { AgentData } from '@witan/protocol'
import { agentEdgesOf } from '@witan/protocol/edges'
import type { Protocol } from '@witan/protocol/protocols'
import { agentSchema, protocolSchema } from '@witan/protocol/schemas'
import { mapInTurns } from '../identity/turn.ts'
import { idOf } from './naming.ts'
import { type AgentReading, type AgentRow, isProtocolRow, nameOfProtocol, type ProtocolRow } from './records.ts'

/** The current definitions of one database: agents by id, protocols by name. */
interface Definitions {
  readonly agents: ReadonlyMap<string, AgentRow>
  readonly protocols: ReadonlyMap<string, ProtocolRow>
}

interface OpenDefinitions {
  readonly agents: Map<string, AgentRow>
  readonly protocols: Map<string, ProtocolRow>
}

const nothing: Definitions = { agents: new Map(), protocols: new Map() }

/** A cache over the records. Saves go through it, so its content matches the store. */
export class Registry {
  readonly #records: AgentReading
  readonly #databases = new Map<string, OpenDefinitions>()
  readonly #loading = new Map<string, Promise<readonly (AgentRow | ProtocolRow)[]>>()
  readonly #revisions = new Map<string, AgentData | Protocol>()
  /** What each root reaches: computed once, and again when a definition changes. */
  reaches = new Map<string, Readonly<Record<string, number>>>()

  constructor(records: AgentReading) {
    this.#records = records
  }

  /** Loads the definitions of a database once. */
  async ensure(database: string): Promise<void> {
    if (this.#databases.has(database)) return
    const loading = this.#loading.get(database) ?? readAll(this.#records, database)
    this.#loading.set(database, loading)
    const rows = await loading
    if (!this.#loading.delete(database)) return
    this.#databases.set(database, filled(rows, this.#revisions))
  }

  /**
   * Reloads the definitions of a loaded database, or of all: another process may have changed them. Returns true if one
   * changed.
   */
  async refresh(database: string | null = null): Promise<boolean> {
    let isNews = false
    for (const loaded of database === null ? [...this.#databases.keys()] : [database]) {
      const known = this.#databases.get(loaded)
      if (known === undefined) continue
      const { reaches } = this
      const rows = await readAll(this.#records, loaded)
      if (reaches !== this.reaches) return this.refresh(database) // what was put meanwhile is not among them
      isNews ||=
        rows.length !== known.agents.size + known.protocols.size ||
        rows.some((row) => currentOf(known, row)?.revision !== row.revision)
      this.reaches = new Map()
      this.#databases.set(loaded, filled(rows, this.#revisions))
    }
    return isNews
  }

  /** The current definitions of a loaded database. */
  current(database: string): Definitions {
    return this.#databases.get(database) ?? nothing
  }

  /** Caches a change that was just stored. */
  put(database: string, id: string, row: AgentRow | ProtocolRow | null): void {
    this.reaches = new Map()
    const known = this.#databases.get(database)
    if (row === null) {
      known?.agents.delete(id)
      known?.protocols.delete(nameOfProtocol(id) ?? '')
      return
    }
    if (known !== undefined) putRow(known, row)
    this.#revisions.set(revisionKey(row), row.data)
  }

  /** A pinned revision of an agent or a protocol. It must be current or loaded by `ensureRevision`; throws otherwise. */
  revision<Data extends AgentData | Protocol = AgentData>(database: string, id: string, revision: number): Data {
    const row = this.#databases.get(database)?.agents.get(id)
    if (row?.revision === revision) return row.data as Data // nearly always
    const data = this.#revisions.get(revisionKey({ database, id, revision }))
    if (data === undefined) throw new Error(`revision ${revision} of ${id} is not loaded`)
    return data as Data
  }

  /**
   * Loads a revision that a log names. If its definition is unknown here, our list is stale: reload all. Throws if the
   * store no longer has the revision.
   */
  async ensureRevision(database: string, id: string, revision: number): Promise<void> {
    const isKnown = () => this.#revisions.has(revisionKey({ database, id, revision }))
    if (isKnown()) return
    const known = this.#databases.get(database)
    if (known !== undefined && currentOf(known, { id }) === undefined) await this.refresh(database)
    if (isKnown()) return
    const row = await this.#records.getAgentRevision(database, id, revision)
    if (row === null) throw new Error(`revision ${revision} of agent ${id} is gone`)
    this.#revisions.set(revisionKey(row), upgraded(row).data)
  }
}

/** All definitions of a database as this version reads them. A database may have many, so other work goes on in between. */
async function readAll(records: AgentReading, database: string): Promise<readonly (AgentRow | ProtocolRow)[]> {
  return mapInTurns(await records.listAgents(database), upgraded)
}

function filled(
  rows: readonly (AgentRow | ProtocolRow)[],
  revisions: Map<string, AgentData | Protocol>,
): OpenDefinitions {
  const found: OpenDefinitions = { agents: new Map(), protocols: new Map() }
  for (const row of rows) {
    putRow(found, row)
    revisions.set(revisionKey(row), row.data)
  }
  return found
}

function putRow({ agents, protocols }: OpenDefinitions, row: AgentRow | ProtocolRow): void {
  if (isProtocolRow(row)) protocols.set(row.data.name, row)
  else agents.set(row.id, row)
}

function currentOf({ agents, protocols }: Definitions, { id }: { readonly id: string }) {
  return agents.get(id) ?? protocols.get(nameOfProtocol(id) ?? '')
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
function upgraded<Row extends AgentRow | ProtocolRow>(row: Row): Row {
  const parsed = (isProtocolRow(row) ? protocolSchema : agentSchema).safeParse(row.data)
  if (parsed.success) return { ...row, data: parsed.data }
  // What this version would not save any more still runs: where it goes wrong is for the part that uses it to say.
  return isProtocolRow(row) ? row : { ...row, data: { ...plainAgent, ...row.data } }
}

/** The current revisions of every agent that a root reaches, and of the protocols that these speak; a run is pinned to them. */
export function revisionsBelow(registry: Registry, database: string, root: string): Readonly<Record<string, number>> {
  const key = `${database}\n${root}`
  const known = registry.reaches.get(key)
  if (known !== undefined) return known
  const rows = registry.current(database).agents
  const protocols = registry.current(database).protocols
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
