/** Asks the MCP servers of an agent for their tools as its run is accepted, so that its start can name them. */
import type { AgentData } from '@witan/protocol'
import { mcpUses } from '@witan/protocol/mcp'
import type { ConversationState } from '../conversation/state.ts'
import { bind } from '../parameter/bind.ts'
import type { Environment } from './environment.ts'

/** How long an acceptance waits for servers, in ms. The run itself waits as long as their configuration says. */
const soon = 2_000

/** Waits until it is known what the servers of a root agent offer, for two seconds at most. What goes wrong is told by the run. */
export async function listSoon(
  { listings, clock }: Pick<Environment, 'listings' | 'clock'>,
  { stored: { conversationValues }, channel }: Pick<ConversationState, 'stored' | 'channel'>,
  agent: AgentData,
): Promise<void> {
  if (mcpUses(agent).length === 0) return
  const { bound: parameters } = bind(agent.parameters, { parent: null, conversationValues, map: {} })
  const of = { agent, parameters, channel }
  if (listings.known(of) !== null) return
  const controller = new AbortController()
  await new Promise<void>((done) => {
    const over = clock.after(soon, done)
    listings.list(of, controller.signal).then(
      () => {
        over()
        done()
      },
      () => {
        over()
        done()
      },
    )
  })
}
