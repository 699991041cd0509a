/** The definitions of a database with drafts among them, which are stored nowhere. */
import type { AgentData } from '@witan/protocol'
import type { AgentReading } from '../agent/records.ts'
import { Registry } from '../agent/registry.ts'

const nothing: AgentReading = {
  listAgents: async () => [],
  listAgentIds: async () => [],
  getAgentRevision: async () => null,
  lastAgentRevision: async () => 0,
}

/** The current definitions of a database, and these in place of those with their ids. */
export async function withDrafts(registry: Registry, database: string, drafts: Iterable<AgentData>): Promise<Registry> {
  const { agents, protocols, bases } = registry.current(database)
  const made = new Registry(nothing)
  await made.ensure(database)
  for (const row of [...agents.values(), ...protocols.values(), ...bases.values()]) made.put(database, row.id, row)
  for (const data of drafts) {
    const revision = (agents.get(data.id)?.revision ?? 0) + 1
    made.put(database, data.id, { database, id: data.id, revision, source: 'data', data, warnings: [], changed: null })
  }
  return made
}
