/** The published agents: those that agents and people on other servers reach by an address [M01]. */
import type { AgentData, DatabaseId } from '@witan/protocol'
import { type Address, addressOf } from '@witan/protocol/names'
import { domainOf, localOf } from '../agent/address.ts'
import type { AgentRow } from '../agent/records.ts'
import { frozen } from '../identity/frozen.ts'
import { localPrincipal } from '../identity/principal.ts'
import { mapInTurns } from '../identity/turn.ts'
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
  /** All of one domain, in the order of their local parts; none for an unknown domain. */
  list(domain: string): Promise<readonly PublishedAgent[]>
}

type Domains = ReadonlyMap<string, ReadonlyMap<string, PublishedAgent>>

/** The published agents of a database by domain, as long as no definition changes. All who ask meanwhile wait for the same one. */
interface Index {
  readonly of: readonly [definitions: object, reaches: object]
  readonly domains: Promise<Domains>
}

/** The look-up of published agents. They are sorted once for each change of a definition, however many ask: a database may have many. */
export function publishedAgents(parts: Parts, ready: () => Promise<void>): PublishedAgents {
  const indexes = new Map<string, Index>()

  function domainsOf(database: string): Promise<Domains> {
    const { registry } = parts
    const { agents } = registry.current(database)
    const known = indexes.get(database)
    if (known !== undefined && known.of[0] === agents && known.of[1] === registry.reaches) return known.domains
    const index = { of: [agents, registry.reaches], domains: byDomain([...agents.values()]) } as const
    indexes.set(database, index)
    return index.domains
  }

  const nobody: ReadonlyMap<string, PublishedAgent> = new Map()
  const ofDomain = async (domain: string): Promise<ReadonlyMap<string, PublishedAgent>> => {
    await ready()
    const database = parts.domains.get(domain)
    if (database === undefined) return nobody
    if (database !== localPrincipal.database) await parts.preparing.prepare(database)
    return (await domainsOf(database)).get(domain) ?? nobody
  }
  return {
    find: async ({ local, domain }) => (await ofDomain(domain)).get(local) ?? null,
    list: async (domain) => [...(await ofDomain(domain)).values()],
  }
}

/** All by domain and local part, in the order of these. Other work goes on in between. */
async function byDomain(rows: readonly AgentRow[]): Promise<Domains> {
  const open = rows.filter(({ data }) => !data.disabled && localOf(data) !== null)
  const all = await mapInTurns(open, published)
  all.sort((one, other) => (one.address.local < other.address.local ? -1 : 1))
  const domains = new Map<string, Map<string, PublishedAgent>>()
  for (const agent of all) {
    const { domain, local } = agent.address
    const known = domains.get(domain)
    if (known === undefined) domains.set(domain, new Map([[local, agent]]))
    else known.set(local, agent)
  }
  return domains
}

function published({ data, database, revision, changed }: AgentRow): PublishedAgent {
  const address = addressOf(localOf(data) ?? '', domainOf(data.address ?? ''))
  return { address, database: database as DatabaseId, data: frozen(data), revision, changedAt: changed?.at ?? null }
}
