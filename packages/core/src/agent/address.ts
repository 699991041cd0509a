/** The address of an agent: how it is stored, and the names that it takes from people and from other agents. */
import { type AgentData, WitanError } from '@witan/protocol'
import { addressOf, readAddress, readLocal, shownName } from '@witan/protocol/names'

/** What the stored address of an agent says; null for an agent without one. */
export function localOf({ address }: Pick<AgentData, 'address'>): string | null {
  return typeof address === 'string' ? address.slice(1, address.indexOf('@', 1)) : null
}

/** The domain of a stored address. */
export function domainOf(address: string): string {
  return address.slice(address.indexOf('@', 1) + 1)
}

/**
 * The agent with its address whole and in canonical form, and so those of its remotes. A local part takes the first domain of the database. Throws `ADDRESS_INVALID`
 * for what is no address, and for one of another domain.
 */
export function withWholeAddress(given: AgentData, domains: readonly string[]): AgentData {
  const agent = withCanonicalRemotes(given)
  if (agent.address === null) return agent
  const address = wholeAddress(agent.address, domains)
  if (typeof address !== 'string') throw refusal(agent, address)
  return address === agent.address ? agent : Object.freeze({ ...agent, address })
}

/** The agent with the addresses of its remotes in canonical form. Throws `ADDRESS_INVALID`. */
function withCanonicalRemotes(agent: AgentData): AgentData {
  let isSame = true
  const remotes = agent.remotes.map((remote, index) => {
    if (remote.address === undefined) return remote
    const read = readAddress(remote.address)
    if (!read.ok) {
      const shown = shownName(remote.address.slice(0, 100))
      const detail = `Agent \`${agent.id}\`: \`${shown}\` is no address of an agent on another server: ${read.problem}.`
      const hint = 'Write `@local@domain`, such as `@docs@bots.example.com`.'
      throw new WitanError('ADDRESS_INVALID', detail, { path: `remotes.${index}.address`, hint })
    }
    const { text } = read.address
    if (text === remote.address) return remote
    isSame = false
    return { ...remote, address: text }
  })
  return isSame ? agent : Object.freeze({ ...agent, remotes })
}

/** True if the database may hold an agent with this address. */
export function isAddressHere(address: string, domains: readonly string[]): boolean {
  return typeof wholeAddress(address, domains) === 'string'
}

interface Fault {
  readonly problem: string
  readonly hint: string
}

function wholeAddress(given: string, domains: readonly string[]): string | Fault {
  const isWhole = given.includes('@')
  const hint = hintFor(domains)
  if (isWhole) {
    const read = readAddress(given)
    if (!read.ok) return { problem: read.problem, hint }
    const { domain, text } = read.address
    return domains.includes(domain) ? text : { problem: `\`${domain}\` is no domain of this database`, hint }
  }
  const local = readLocal(given)
  if (local.problem !== null) return { problem: local.problem, hint }
  const [domain] = domains
  if (domain === undefined) return { problem: 'this database has no domain', hint }
  return addressOf(local.value, domain).text
}

function hintFor(domains: readonly string[]): string {
  const [domain] = domains
  if (domain === undefined)
    return 'Set server.domain, or server.domains for a further database; an agent without an address is not published.'
  return `Write the local part alone, such as \`docs\`, or whole with one of: ${domains.join(', ')}.`
}

function refusal({ id, address }: AgentData, { problem, hint }: Fault): WitanError {
  const shown = shownName((address ?? '').slice(0, 100))
  const detail = `Agent \`${id}\`: \`${shown}\` is no address that it can have: ${problem}.`
  return new WitanError('ADDRESS_INVALID', detail, { path: 'address', hint })
}

type Agents = ReadonlyMap<string, Pick<AgentData, 'address'>>
const known = new WeakMap<Agents, ReadonlySet<string>>()

/** The local parts of all addresses of a set of agents that does not change any more. */
export function localsOf(agents: Agents): ReadonlySet<string> {
  const found = known.get(agents)
  if (found !== undefined) return found
  const locals = new Set<string>()
  for (const agent of agents.values()) {
    const local = localOf(agent)
    if (local !== null) locals.add(local)
  }
  known.set(agents, locals)
  return locals
}
