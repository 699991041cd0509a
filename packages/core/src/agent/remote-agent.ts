/** What is known here of an agent on another server: a definition, made from the edge that leads to it. */
import type { AgentData } from '@witan/protocol'
import type { RemoteAgent } from '@witan/protocol/entries'
import { agentSchema } from '@witan/protocol/schemas'
import type { RemoteLink } from '../tool/remote.ts'

const made = new WeakMap<RemoteAgent, AgentData>()
const links = new WeakMap<AgentData, RemoteLink>()

/** The agents on other servers that an agent lists. A definition of an earlier version has no such list. */
export function remotesOf({ remotes }: Partial<Pick<AgentData, 'remotes'>>): readonly RemoteAgent[] {
  return remotes ?? []
}

/** The definition of the agent that `caller` calls under this name; null if it lists none. Its questions expire as those of its caller do. */
export function remoteAgent(caller: AgentData, name: string): AgentData | null {
  const edge = remotesOf(caller).find((one) => one.name === name)
  if (edge === undefined) return null
  const known = made.get(edge)
  if (known !== undefined) return known
  const { description } = edge
  const { interruptionExpiresInSeconds } = caller
  const data = agentSchema.parse({ id: 'remote', description, interruptionExpiresInSeconds })
  // The name is that of a tool, which may have letters that the id of an agent may not have.
  const named = Object.freeze({ ...data, id: name })
  made.set(edge, named)
  links.set(named, { edge, from: { id: caller.id, address: caller.address } })
  return named
}

/** The link that a definition was made from; null for an agent of this server. */
export function linkOfRemote(agent: AgentData): RemoteLink | null {
  return links.get(agent) ?? null
}

/** Where an edge leads: to an address, or to the URL of a card. */
export function remoteOf({ address, card }: Pick<RemoteAgent, 'address' | 'card'>): string {
  return address ?? card ?? ''
}

/** Whether the other server learns for whom it is called. One that is known by its card alone does only where its edge says so. */
export function saysForWhom({ onBehalfOf: isSaid, address }: RemoteAgent): boolean {
  return isSaid ?? address !== undefined
}
