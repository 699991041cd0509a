/** What an agent answers to: its id, which also names its tool, and its display name; each leads to one agent at most [C28]. */
import type { AgentData } from '@witan/protocol'

/** Words for the one who asks and for everybody: no agent is called so. Built-in tools have a `_`, which no id can have. */
const reserved: ReadonlySet<string> = new Set(['user', 'all'])

/** Names that no agent may have, as an id or for people. Case does not matter. */
export function isReservedName(name: string): boolean {
  return reserved.has(sameName(name)) || builtIns.has(sameName(name))
}

/** The tools that come with features of the runtime: nothing else that an agent calls is named so, and no agent is. */
export const builtIns: ReadonlySet<string> = new Set([
  'transfer_to_agent',
  'ask_question',
  'ask_user',
  'ask_all_users',
  'get_background_sub_agent_result',
  'fetch_sub_agent_progress',
  'message_sub_agent',
  'cancel_background_sub_agent',
  'exit_loop',
  'set_output',
  'end_tool_mode',
])

/** Two display names are the same where only case, width or spaces differ: nobody could tell them apart aloud. */
export function sameName(name: string): string {
  return name.normalize('NFKC').trim().replace(/\s+/g, ' ').toLowerCase()
}

/** Another agent that answers to the id or the name of this one, or null. */
export function namesake(agent: AgentData, agents: Iterable<AgentData>): AgentData | null {
  const words = wordsOf(agent)
  for (const other of agents)
    if (other.id !== agent.id && wordsOf(other).some((word) => words.includes(word))) return other
  return null
}

const known = new WeakMap<AgentData, readonly string[]>()

/** What an agent answers to. A set of agents is held against each of its agents, so it is worked out once. */
function wordsOf(agent: AgentData): readonly string[] {
  const found = known.get(agent)
  if (found !== undefined) return found
  const folded = sameName(agent.name ?? '')
  const words = folded === '' ? [agent.id] : [agent.id, folded]
  known.set(agent, words)
  return words
}

/** The id that somebody means by `word`: an id as it is, else the agent of that display name; else the word itself, which then leads nowhere. */
export function idOf(word: string, agents: ReadonlyMap<string, { readonly data: AgentData }>): string {
  if (agents.has(word)) return word
  const name = sameName(word)
  if (name === '') return word
  for (const [id, { data }] of agents) if (data.name !== undefined && sameName(data.name) === name) return id
  return word
}
