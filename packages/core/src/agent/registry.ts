/** The agents of a process: current ones and pinned revisions, looked up without waiting once they are loaded. */
import type { AgentData } from '@witan/protocol'
import { agentSchema } from '@witan/protocol/schemas'
import type { AgentRecords, AgentRow } from './records.ts'

/** A cache over the records. Saves go through it, so what it holds is what the store holds. */
export class Registry {
  readonly #records: AgentRecords
  readonly #databases = new Map<string, Map<string, AgentRow>>()
  readonly #loading = new Map<string, Promise<readonly AgentRow[]>>()
  readonly #revisions = new Map<string, AgentData>()
  /** What roots reach, worked out once until an agent changes. */
  readonly reaches = new Map<string, Readonly<Record<string, number>>>()

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

  /** The current rows of a loaded database by id. */
  rows(database: string): ReadonlyMap<string, AgentRow> {
    return this.#databases.get(database) ?? new Map()
  }

  /** Takes in what was just stored. */
  put(database: string, id: string, row: AgentRow | null): void {
    this.reaches.clear()
    if (row === null) this.#databases.get(database)?.delete(id)
    else {
      this.#databases.get(database)?.set(id, row)
      this.#revisions.set(revisionKey(row), row.data)
    }
  }

  /** A pinned revision; it must have been loaded by `ensureRevision` or be current. Throws where it was not. */
  revision(database: string, id: string, revision: number): AgentData {
    const data = this.#revisions.get(revisionKey({ database, id, revision }))
    if (data === undefined) throw new Error(`revision ${revision} of agent ${id} is not loaded`)
    return data
  }

  /** Loads a revision that a log names. Throws where the store has it no more. */
  async ensureRevision(database: string, id: string, revision: number): Promise<void> {
    if (this.#revisions.has(revisionKey({ database, id, revision }))) return
    const row = await this.#records.getAgentRevision(database, id, revision)
    if (row === null) throw new Error(`revision ${revision} of agent ${id} is gone`)
    this.#revisions.set(revisionKey(row), upgraded(row).data)
  }
}

/** A row that an earlier version stored gets the defaults of what has come since. */
function upgraded(row: AgentRow): AgentRow {
  const parsed = agentSchema.safeParse(row.data)
  return parsed.success ? { ...row, data: parsed.data } : row
}

/** The current revisions of every agent that a root reaches: what a run is pinned to. */
export function reachOf(registry: Registry, database: string, root: string): Readonly<Record<string, number>> {
  const key = `${database}\n${root}`
  const known = registry.reaches.get(key)
  if (known !== undefined) return known
  const rows = registry.rows(database)
  const found: Record<string, number> = {}
  const open = [root]
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    for (const { agent } of rows.get(id)?.data.subAgents ?? []) {
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
