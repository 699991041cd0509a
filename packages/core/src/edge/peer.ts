/** The edge to a peer: one tool for each peer and message that an agent may send by its protocols [T16, T20, Tb25]. */
import type { ExchangeEnds, ExchangeMessage, ExchangeStanding } from '@witan/protocol/entries'
import type { Protocol } from '@witan/protocol/protocols'
import { exchangeKey } from '../tool/exchange.ts'
import { describePeer, describeProtocol } from '../agent/protocol/describe-peer.ts'
import { isOpen, moveOf } from '../agent/protocol/order.ts'
import { type PeerMessage, peerMessagesOf } from '../agent/protocol/peer-messages.ts'
import { attributed, jsonForModel } from '../model/attribution.ts'
import { type FindAgent, type Reached, reachTarget, refusalOf, refusing } from '../tool/delegation.ts'
import { failed, type Outcome } from '../tool/outcome.ts'
import { checkSchema } from '../tool/schema.ts'
import type { Caller, ImmediateTool, ToolRequest, ToolSource } from '../tool/tool.ts'
import type { Spawn } from '../tool/waiting.ts'

/** A protocol in the revision that a run keeps. */
export interface PinnedProtocol {
  readonly data: Protocol
  readonly revision: number
}

/** What the edge looks up, as the run keeps it. */
export interface PeerContext {
  readonly find: FindAgent
  protocol(caller: Caller, name: string): PinnedProtocol | null
}

/** The messages that an agent may send to its peers, as tools. A responder has those of an exchange only while that is open. */
export function peerTools(context: PeerContext): ToolSource {
  return (caller) => {
    if (caller.agent.speaks.length === 0) return []
    const messages = peerMessagesOf(caller.agent, {
      protocol: (name) => context.protocol(caller, name)?.data ?? null,
      initiators: ({ protocol, peers }) => initiatorsOf(caller, { protocol, peers }),
    })
    const noted = new Set<string>()
    return messages.map((message) => {
      const tool = toolOf(message, caller, context)
      if (tool.notice === null) return tool
      const isRepeated = noted.has(message.peer)
      noted.add(message.peer)
      return isRepeated ? { ...tool, notice: null } : tool
    })
  }
}

/** Who has written to the agent of a call by that protocol: their tools are known, and offered while the exchange is open. */
function initiatorsOf(
  { agent, exchanges }: Caller,
  { protocol, peers }: { readonly protocol: string; readonly peers: readonly string[] | null },
): readonly string[] {
  return [...exchanges.values()].flatMap(({ initiator, responder, standing, ...one }) => {
    const isOurs = one.protocol === protocol && responder === agent.id && standing !== null
    return isOurs && (peers === null || peers.includes(initiator)) ? [initiator] : []
  })
}

/** Whether a message may be sent at all now: an initiator may begin anew, a responder needs an open exchange. */
function isSendable({ protocol, message }: PeerMessage, ends: ExchangeEnds, { exchanges }: Caller): boolean {
  const standing = exchanges.get(exchangeKey(ends))?.standing ?? null
  return message.from === 'initiator' || (standing !== null && isOpen(protocol, standing))
}

function toolOf(message: PeerMessage, caller: Caller, context: PeerContext): ImmediateTool {
  const { tool: name, peer, protocol } = message
  const target = { tool: name, kind: 'peer', of: protocol.name, agent: peer, map: message.map } as const
  const reached = peerReached(reachTarget(target, caller, context.find), target, caller)
  if (!reached.ok) return reached.tool
  const { binding } = reached
  const revision = context.protocol(caller, protocol.name)?.revision ?? 0
  const isInitiator = message.message.from === 'initiator'
  const [initiator, responder] = isInitiator ? [caller.agent.id, peer] : [peer, caller.agent.id]
  const ends: ExchangeEnds = { protocol: protocol.name, revision, initiator, responder }
  const offer = { name, description: describePeer(message, reached.child).text, parameters: message.message.schema }
  const isOffered = isSendable(message, ends, caller)
  return {
    name,
    kind: 'peer',
    of: protocol.name,
    offer: isOffered ? offer : null,
    ...(isOffered ? {} : { withheld: { why: `No exchange with \`${peer}\` is open.`, offer } }),
    notice: null,
    effect: 'none',
    bound: [],
    immediate: true,
    takesAnyName: true,
    exchange: { ...ends, ...standingBefore(protocol) },
    check: (args) => checkSchema(message.message.schema, args),
    invoke(request, from) {
      const sent = sentMessage(message, { ends, request, caller: from })
      if (!('id' in sent)) return sent
      const spawn = spawnOf(message, sent, from)
      return refusalOf({ target, spawn, binding }, from, context.find) ?? { kind: 'pending', child: spawn }
    },
  }
}

type Target = Parameters<typeof reachTarget>[0]

/** A peer that lacks a value is not offered: no model supplies one. */
function peerReached(reached: Reached, target: Target, { agentPath }: Caller): Reached {
  const lacking = reached.ok ? reached.binding.generate[0] : undefined
  if (lacking === undefined) return reached
  const why = `\`${agentPath}/${target.agent}\` needs \`${lacking.name}\`; no model supplies it in a message to a peer.`
  return { ok: false, tool: refusing(target, why) }
}

function standingBefore({ order }: Protocol): ExchangeStanding {
  return order === null
    ? { state: null, finished: true }
    : { state: order.start, finished: order.final.includes(order.start) }
}

/** The message as its exchange takes it, or why it is out of order now. */
function sentMessage(
  { protocol, message: { name } }: PeerMessage,
  { ends, request, caller }: { readonly ends: ExchangeEnds; readonly request: ToolRequest; readonly caller: Caller },
): ExchangeMessage | Outcome {
  const known = caller.exchanges.get(exchangeKey(ends))
  const move = moveOf(protocol, known?.standing ?? null, name)
  if (!move.ok) {
    const { state } = move
    const detail = `${name} is not allowed in state ${state} of ${protocol.name}; allowed: ${move.allowed.join(', ') || 'nothing'}`
    const facts = { protocol: protocol.name, message: name, state }
    return {
      ...failed('PROTOCOL_VIOLATION', detail),
      notices: [{ code: 'PROTOCOL_VIOLATION', detail: `\`${caller.agent.id}\`: ${detail}.`, ...facts }],
    }
  }
  const isNew = known === undefined || (known.standing !== null && move.begins)
  const id = isNew ? request.callId : known.id
  return { id, ...ends, name, isReply: false, body: request.arguments, ...move.standing }
}

function spawnOf({ peer, map, message }: PeerMessage, sent: ExchangeMessage, { agent }: Caller): Spawn {
  const words = `${message.name} ${jsonForModel(sent.body)}`
  return {
    agent: peer,
    message: attributed(agent.id, peer, words),
    generated: null,
    map,
    history: 'agent',
    peerMessage: { sent, reply: message.reply },
  }
}

const nothing: readonly string[] = []

/** What a responder reads of its protocols in its system message. */
export function peerLines({ protocol }: Pick<PeerContext, 'protocol'>): (caller: Caller) => readonly string[] {
  return (caller) => {
    if (caller.agent.speaks.length === 0) return nothing
    const names = caller.agent.speaks.filter(({ role }) => role === 'responder').map((one) => one.protocol)
    return [...new Set(names)].flatMap((name) => {
      const found = protocol(caller, name)?.data
      if (found === undefined) return []
      const { processing } = found
      const { text } = describeProtocol(found)
      return processing.trim() === '' ? [text] : [text, processing.trim()]
    })
  }
}
