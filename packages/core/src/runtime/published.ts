/** The published agents: those that agents and people on other servers reach by an address [M01]. */
import type { AgentData, DatabaseId } from '@witan/protocol'
import { type Address, addressOf } from '@witan/protocol/names'
import { domainOf, localOf } from '../agent/address.ts'
import type { AgentRow } from '../agent/records.ts'
import { frozen } from '../identity/frozen.ts'
import { localPrincipal } from '../identity/principal.ts'
import type { Parts } from './wiring.ts'

/** An agent with an address on a domain of ours that is not disabled. `data` is frozen. */
export interface PublishedAgent {
  readonly address: Address
  readonly database: DatabaseId
  readonly data: AgentData
  readonly revision: number
  /** When this revision was stored, in ms of the store's clock; null if an earlier version stored it. */
  readonly changedAt: number | null
}

/**
 * Finds published agents by parts of addresses in canonical form, as `readAddress` gives them. It asks nobody's rights: whoever may call an
 * agent is for its `access` to say. Another process's change is seen a moment later.
 */
export interface PublishedAgents {
  /** Null for an unknown domain, and where nobody has the address or the agent is disabled. */
  find(address: Pick<Address, 'local' | 'domain'>): Promise<PublishedAgent | null>
  /** All of one domain, by local part; none for an unknown domain. */
  list(domain: string): Promise<readonly PublishedAgent[]>
}

/** The look-up of published agents. */
export function publishedAgents(parts: Parts, ready: () => Promise<void>): PublishedAgents {
  const rowsOf = async (domain: string): Promise<readonly AgentRow[]> => {
    await ready()
    const database = parts.domains.get(domain)
    if (database === undefined) return []
    if (database !== localPrincipal.database) await parts.prepare(database)
    const rows = [...parts.registry.current(database).agents.values()]
    return rows.filter(
      ({ data }) => !data.disabled && localOf(data) !== null && domainOf(data.address ?? '') === domain,
    )
  }
  return {
    async find({ local, domain }) {
      const row = (await rowsOf(domain)).find(({ data }) => localOf(data) === local)
      return row === undefined ? null : published(row)
    },
    async list(domain) {
      const found = (await rowsOf(domain)).map(published)
      return found.sort((one, other) => (one.address.local < other.address.local ? -1 : 1))
    },
  }
}

function published({ data, database, revision, changed }: AgentRow): PublishedAgent {
  const address = addressOf(localOf(data) ?? '', domainOf(data.address ?? ''))
  return { address, database: database as DatabaseId, data: frozen(data), revision, changedAt: changed?.at ?? null }
}
