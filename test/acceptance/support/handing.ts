/** What tests of hand-overs share: the edge, the call that hands over, and a conversation's hand-overs in a few words. */
import type { CallOut } from './exchange.ts'
import { agent, type Stage } from './stage.ts'
import type { WitanEvent } from './wire.ts'

/** An edge to a target. */
export const transfer = (id: string, more: object = {}) => ({
  agent: id,
  description: `Takes ${id} matters.`,
  ...more,
})

/** A model's call that hands over. */
export const hand = (id: string): CallOut => ({ name: 'transfer_to_agent', args: { agent_name: id } })

/** What a model reads of a hand-over that was refused. */
export const refused = (why: string) => JSON.stringify({ error: `${why}; transfer not performed` })

/** An action of a client. */
export const lookUp = { name: 'look-up', description: 'Looks up.', parametersSample: { order: 'A-1' } }

/** The agents' calls, errors and hand-overs of a conversation, each in a few words. */
export function story(events: readonly WitanEvent[]): string[] {
  return events.flatMap(({ type, kind, author, content }) => {
    if (type === 'transfer') return [`${content['from']} → ${content['to']}${content['returned'] ? ' (back)' : ''}`]
    return (type === 'start' || type === 'end' || type === 'error') && kind === 'agent' ? [`${type} ${author}`] : []
  })
}

/** Saves a coordinator, `desk`, that may hand over to a specialist, `billing`. */
export async function saveTwo(stage: Stage, edge: object = {}, target: Record<string, unknown> = {}): Promise<void> {
  await stage.save(agent('desk', { transfers: [transfer('billing', edge)] }), agent('billing', target))
}
