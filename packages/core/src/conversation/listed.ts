/** What MCP servers offer the calls of agents, as the log has it. A list of tools stands in a conversation once. */
import type { AgentData } from '@witan/protocol'
import type { Entry, ListedServer, ListedTool } from '@witan/protocol/entries'
import { mcpUses } from '@witan/protocol/mcp'
import type { OfferedServer } from '@witan/protocol/mcp'
import type { AgentCall, ConversationState, LiveJob } from './state.ts'

/** Whether the servers of an agent are to be asked for their tools before its model is. */
export function hasToList({ agent, mcp, remote, workflow }: AgentCall): boolean {
  return mcp === null && remote === null && workflow === null && mcpUses(agent as Pick<AgentData, 'mcp'>).length > 0
}

/** The same servers for an entry: without the tools that an entry before has. */
export function entryOfListed(
  { listings }: Pick<ConversationState, 'listings'>,
  servers: readonly OfferedServer[],
): ListedServer[] {
  const said = new Set<string>()
  return servers.map((one) => {
    const isKnown = listings.get(one.digest) !== undefined || said.has(one.digest)
    said.add(one.digest)
    if (!isKnown) return one
    const { tools: _, ...rest } = one
    return rest
  })
}

const none: readonly ListedTool[] = []

/** The servers of an entry with their tools, which are noted for entries to come. */
export function offeredIn(
  { listings }: Pick<ConversationState, 'listings'>,
  servers: readonly ListedServer[],
): OfferedServer[] {
  return servers.map((one) => {
    if (one.tools !== undefined) listings.set(one.digest, one.tools)
    return { ...one, tools: listings.get(one.digest) ?? none }
  })
}

/** Folds what servers offer a call that has begun. */
export function foldTools(
  state: ConversationState,
  run: LiveJob | null,
  { place, body }: Entry & { type: 'tools' },
): void {
  const offered = offeredIn(state, body.mcp)
  const call = run?.calls.get(place.call)
  if (call !== undefined) call.mcp = offered
}
