/** The peers of an agent, and the messages that it may send to each. */
import type { AgentData } from '@witan/protocol'
import type { Protocol, ProtocolMessage, ProtocolRole } from '@witan/protocol/protocols'

/** One message that an agent may send to one peer: a tool of its model [Tb25]. */
export interface PeerMessage {
  /** The name of the tool. */
  readonly tool: string
  readonly peer: string
  readonly protocol: Protocol
  readonly message: ProtocolMessage
  /** Its path in the definition of the agent, such as `speaks.0`. */
  readonly at: string
  /** The sender's parameter for a parameter of the peer. */
  readonly map: Readonly<Record<string, string | null>>
}

type Spoken = AgentData['speaks'][number]

/** The name of the tool that sends a message to a peer. */
export function peerTool(peer: string, message: string): string {
  return `${peer}_${message}`
}

/**
 * What an agent may send, over all protocols that it speaks. `protocol` looks one up by name. `initiators` names the agents that a
 * responder may write to: an initiator's own `peers` say whom it may.
 */
export function peerMessagesOf(
  { speaks }: Pick<AgentData, 'speaks'>,
  of: {
    protocol(name: string): Protocol | null
    initiators(spoken: Spoken): readonly string[]
  },
): readonly PeerMessage[] {
  return speaks.flatMap((spoken, index) => {
    const protocol = of.protocol(spoken.protocol)
    if (protocol === null) return []
    const messages = protocol.messages.filter(({ from }) => from === spoken.role)
    if (messages.length === 0) return []
    const peers = spoken.role === 'initiator' ? (spoken.peers ?? []) : of.initiators(spoken)
    return peers.flatMap((peer) =>
      messages.map((message): PeerMessage => {
        const tool = peerTool(peer, message.name)
        return { tool, peer, protocol, message, at: `speaks.${index}`, map: spoken.map }
      }),
    )
  })
}

/** Whether an agent speaks a protocol in a role with that peer. A responder without `peers` answers every initiator. */
export function speaksWith(
  { speaks }: Pick<AgentData, 'speaks'>,
  { protocol, role, peer }: { readonly protocol: string; readonly role: ProtocolRole; readonly peer: string },
): boolean {
  return speaks.some(
    (spoken) =>
      spoken.protocol === protocol && spoken.role === role && (spoken.peers === null || spoken.peers.includes(peer)),
  )
}

/** The other end's role. */
export function otherRole(role: ProtocolRole): ProtocolRole {
  return role === 'initiator' ? 'responder' : 'initiator'
}

/** What the model of an agent may send, according to a set of agents and protocols. A responder may write to every initiator that lists it. */
export function peerMessagesIn(
  agent: AgentData,
  set: { readonly agents: ReadonlyMap<string, AgentData>; readonly protocols: ReadonlyMap<string, Protocol> },
): readonly PeerMessage[] {
  return peerMessagesOf(agent, {
    protocol: (name) => set.protocols.get(name) ?? null,
    initiators: ({ protocol, peers }) =>
      [...set.agents.values()]
        .filter(({ id }) => peers === null || peers.includes(id))
        .filter((other) => speaksWith(other, { protocol, role: 'initiator', peer: agent.id }))
        .map(({ id }) => id),
  })
}
