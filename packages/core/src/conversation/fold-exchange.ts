/** Folds the exchanges between peers: where each stands, and what was said in it [T20]. */
import type { AgentData } from '@witan/protocol'
import type { AnsweredMessage, Entry, MessageBody, ToolStartBody } from '@witan/protocol/entries'
import { exchangeKey } from '../tool/exchange.ts'
import { type AgentCall, type LiveJob, positionOf } from './state.ts'

/** Folds a message between peers, or the reply to one. */
export function foldExchange(run: LiveJob | null, { place, body }: Entry & { body: MessageBody }): void {
  const answering = run?.calls.get(place.call)
  const { exchange, text } = body
  if (run === null || answering === undefined || exchange === undefined) return
  const { id, protocol, revision, initiator, responder, isReply, state, finished } = exchange
  const ends = { protocol, revision, initiator, responder }
  const key = exchangeKey(ends)
  const known = run.exchanges.get(key)
  const speaker = isReply ? answering : answering.parent
  const said = known?.id === id ? known.said : []
  said.push(speaker?.scrub?.(text) ?? text)
  // A reply leaves an exchange where its messages have brought it.
  const standing = isReply && known?.id === id ? known.standing : { state, finished }
  run.exchanges.set(key, { ...ends, id, standing, said })
  if (!isReply) notePeerTool(answering)
}

/** Notes a message that was not sent: its exchange begins with it, although it stands nowhere yet. */
export function noteUnsent(run: LiveJob | null, { place, body }: Entry & { body: ToolStartBody }): void {
  const { exchange } = body
  if (run === null || exchange === undefined) return
  const { state: _, finished: __, ...ends } = exchange
  const key = exchangeKey(ends)
  if (run.exchanges.get(key) === undefined)
    run.exchanges.set(key, { ...ends, id: place.call, standing: null, said: [] })
  const sender = run.calls.get(place.parentCall ?? '')
  if (sender !== undefined) addPeerTool(sender, body.name)
}

function notePeerTool({ askedBy }: AgentCall): void {
  if (askedBy !== null) addPeerTool(askedBy.owner, askedBy.name)
}

function addPeerTool({ document }: AgentCall, name: string): void {
  if (!document.peerTools.includes(name)) document.peerTools = [...document.peerTools, name]
}

/** Says why an answer does not have the requested form. The sender of a message to a peer reads it about the reply. */
export function mismatch(call: AgentCall, issue: string): string {
  const { agent, exchange } = call
  if (exchange === null) return `The answer of \`${agent.id}\` does not fit its output schema: ${issue}`
  return `${positionOf(call).agent.id}'s reply does not fit ${exchange.protocol}.${exchange.name}: ${issue}`
}

/** What an agent has become for each schema, and for the last one that was asked for. */
const derived = new WeakMap<AgentData, { readonly last: AgentData; readonly made: Map<string, AgentData> }>()

/** The agent as it answers a message: with the schema of the reply in place of its own for answers. */
export function answering(agent: AgentData, exchange: AnsweredMessage | null): AgentData {
  if (exchange === null || agent.workflow !== null) return agent
  const { reply } = exchange
  if (reply === null && agent.outputSchema === null) return agent
  const known = derived.get(agent) ?? { last: agent, made: new Map<string, AgentData>() }
  if (known.last !== agent && known.last.outputSchema === reply) return known.last
  const key = JSON.stringify(reply)
  const last = known.made.get(key) ?? Object.freeze({ ...agent, outputSchema: reply })
  known.made.set(key, last)
  derived.set(agent, { last, made: known.made })
  return last
}
