/** The tools by which an agent's model writes to its peers: one for each peer and message of a protocol that it speaks. */
import type { StoredAgent } from '@witan/protocol'
import type { StoredProtocol } from '@witan/protocol/protocols'

/** One tool, as the list of tools shows it. */
interface PeerTool {
  readonly name: string
  readonly kind: 'peer'
  readonly about: string
  readonly schema: unknown
  readonly marks: readonly string[]
}

/** What is known of the database. */
interface Known {
  readonly protocols: readonly Pick<StoredProtocol, 'name' | 'purpose' | 'messages'>[]
  readonly agents: readonly Pick<StoredAgent, 'id' | 'speaks'>[]
}

/** An initiator writes to its peers at any time, a responder to whoever wrote to it first. Unknown protocols have none. */
export function peerToolsOf(agent: Pick<StoredAgent, 'id' | 'speaks'>, { protocols, agents }: Known): PeerTool[] {
  return agent.speaks.flatMap(({ protocol: name, role, peers }) => {
    const protocol = protocols.find((one) => one.name === name)
    const initiators = agents
      .filter(({ id, speaks }) => (peers === null || peers.includes(id)) && listsAs(speaks, name, agent.id))
      .map(({ id }) => id)
    const messages = protocol?.messages.filter(({ from }) => from === role) ?? []
    return (role === 'initiator' ? (peers ?? []) : initiators).flatMap((peer) =>
      messages.map(
        (message): PeerTool => ({
          name: `${peer}_${message.name}`,
          kind: 'peer',
          about: `Sends ${message.name} to ${peer} by the protocol ${name}. ${protocol?.purpose ?? ''}`.trim(),
          schema: message.schema,
          marks: role === 'initiator' ? [] : [`after ${peer} has written`],
        }),
      ),
    )
  })
}

function listsAs(speaks: StoredAgent['speaks'], protocol: string, peer: string): boolean {
  return speaks.some(
    (one) => one.protocol === protocol && one.role === 'initiator' && one.peers?.includes(peer) === true,
  )
}
