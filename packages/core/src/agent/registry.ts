/** The agents of a process: current and pinned revisions, looked up synchronously once they are loaded. */
import type { AgentData } from '@witan/protocol'
import { agentSchema } from '@witan/protocol/schemas'
import { edgesOf } from './edges.ts'
import { idOf } from './naming.ts'
import type { AgentRecords, AgentRow } from './records.ts'

/** A cache over the records. Saves go through it, so its content matches the store. */
export class Registry {
  readonly #records: AgentRecords
  readonly #databases = new Map<string, Map<string, AgentRow>>()
  readonly #loading = new Map<string, Promise<readonly AgentRow[]>>()
  readonly #revisions = new Map<string, AgentData>()
  /** What each root reaches: computed once, and again when an agent changes. */
  reaches = new Map<string, Readonly<Record<string, number>>>()

  constructor(records: AgentRecords) {
    this.#records = records
  }

  /** Loads the agents of a database once. */
  async ensure(database: string): Promise<void> {
    if (this.#databases.has(database)) return
    const loading = this.#loading.get(database) ?? this.#records.listAgents(database)
    this.#loading.set(database, loading)
    const rows = (await loading).map(upgraded)
    if (!this.#loading.delete(database)) return
    this.#databases.set(database, new Map(rows.map((row) => [row.id, row])))
    for (const row of rows) this.#revisions.set(revisionKey(row), row.data)
  }

  /**
   * Reloads the agents of a loaded database, or of all: another process may have changed them. Returns true if an agent
   * changed.
   */
  async refresh(database: string | null = null): Promise<boolean> {
    let isNews = false
    for (const loaded of database === null ? [...this.#databases.keys()] : [database]) {
      const known = this.#databases.get(loaded)
      if (known === undefined) continue
      const { reaches } = this
      const rows = (await this.#records.listAgents(loaded)).map(upgraded)
      if (reaches !== this.reaches) return this.refresh(database) // what was put meanwhile is not among them
      isNews ||= rows.length !== known.size || rows.some(({ id, revision }) => known.get(id)?.revision !== revision)
      this.reaches = new Map()
      this.#databases.set(loaded, new Map(rows.map((row) => [row.id, row])))
      for (const row of rows) this.#revisions.set(revisionKey(row), row.data)
    }
    return isNews
  }

  /** The current rows of a loaded database by id. */
  rows(database: string): ReadonlyMap<string, AgentRow> {
    return this.#databases.get(database) ?? new Map()
  }

  /** Caches a row that was just stored. */
  put(database: string, id: string, row: AgentRow | null): void {
    this.reaches = new Map()
    if (row === null) this.#databases.get(database)?.delete(id)
    else {
      this.#databases.get(database)?.set(id, row)
      this.#revisions.set(revisionKey(row), row.data)
    }
  }

  /** A pinned revision. It must be current or loaded by `ensureRevision`; throws otherwise. */
  revision(database: string, id: string, revision: number): AgentData {
    const data = this.#revisions.get(revisionKey({ database, id, revision }))
    if (data === undefined) throw new Error(`revision ${revision} of agent ${id} is not loaded`)
    return data
  }

  /**
   * Loads a revision that a log names. If the agent is unknown here, our list is stale: reload all agents. Throws if the
   * store no longer has the revision.
   */
  async ensureRevision(database: string, id: string, revision: number): Promise<void> {
    const isKnown = () => this.#revisions.has(revisionKey({ database, id, revision }))
    if (isKnown()) return
    if (this.#databases.get(database)?.has(id) === false) await this.refresh(database)
    if (isKnown()) return
    const row = await this.#records.getAgentRevision(database, id, revision)
    if (row === null) throw new Error(`revision ${revision} of agent ${id} is gone`)
    this.#revisions.set(revisionKey(row), upgraded(row).data)
  }
}

/**
 * The id that `word` refers to [C28]. An unknown word is looked up in the store: another process may have just saved the
 * agent.
 */
export async function idOfNamed(registry: Registry, database: string, word: string): Promise<string> {
  await registry.ensure(database)
  const id = idOf(word, registry.rows(database))
  if (registry.rows(database).has(id) || !(await registry.refresh(database))) return id
  return idOf(word, registry.rows(database))
}

/** Fills in the defaults of newer keys in a row that an earlier version stored. */
function upgraded(row: AgentRow): AgentRow {
  const parsed = agentSchema.safeParse(row.data)
  return parsed.success ? { ...row, data: parsed.data } : row
}

/** The current revisions of every agent that a root reaches; a run is pinned to them. */
export function revisionsBelow(registry: Registry, database: string, root: string): Readonly<Record<string, number>> {
  const key = `${database}\n${root}`
  const known = registry.reaches.get(key)
  if (known !== undefined) return known
  const rows = registry.rows(database)
  const found: Record<string, number> = {}
  const open = [root]
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    const data = rows.get(id)?.data
    for (const { agent } of data === undefined ? [] : edgesOf(data)) {
      const row = rows.get(agent)
      if (row === undefined || Object.hasOwn(found, agent)) continue
      found[agent] = row.revision
      open.push(agent)
    }
  }
  registry.reaches.set(key, Object.freeze(found))
  return found
}

function revisionKey({ database, id, revision }: Pick<AgentRow, 'database' | 'id' | 'revision'>): string {
  return `${database}\n${id}\n${revision}`
}
