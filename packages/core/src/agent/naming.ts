/** The names of an agent: its id, which also names its tool, and its display name. Each identifies at most one agent [C28]. */
import type { AgentData } from '@witan/protocol'
import { planTool } from '@witan/protocol/plan'
import { readAddress } from '@witan/protocol/names'
import { sameName } from '../identity/display-name.ts'

/** Words for the caller, for everybody, and for the runtime, so no agent may use them. Built-in tools contain a `_`, which ids cannot have. */
const reserved: ReadonlySet<string> = new Set(['user', 'all', 'witan'])

/** True if no agent may have this id or display name. Case does not matter. */
export function isReservedName(name: string): boolean {
  return reserved.has(sameName(name)) || builtIns.has(sameName(name))
}

/** The tools that come with features of the runtime. No agent and no other tool may have one of these names. */
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
  'save_artifact',
  'read_artifact',
  'search_knowledge',
  'remember',
  'recall',
  planTool,
])

/** Those whose calls and results no other agent reads: what an agent knows, remembers and plans is its own. */
export const ownTools: ReadonlySet<string> = new Set(['search_knowledge', 'remember', 'recall', planTool])

/** Another agent with the same id or name as this one, or null. */
export function namesake(agent: AgentData, agents: Iterable<AgentData>): AgentData | null {
  const words = wordsOf(agent)
  for (const other of agents)
    if (other.id !== agent.id && wordsOf(other).some((word) => words.includes(word))) return other
  return null
}

const known = new WeakMap<AgentData, readonly string[]>()

/** The names of an agent: its id, and its display name as it is compared. Computed once. */
export function wordsOf(agent: AgentData): readonly string[] {
  const found = known.get(agent)
  if (found !== undefined) return found
  const folded = sameName(agent.name ?? '')
  const words = folded === '' ? [agent.id] : [agent.id, folded]
  known.set(agent, words)
  return words
}

/** The agent id that `word` refers to: `word` itself if it is an id, or the id of the agent with that display name or address. Otherwise `word` unchanged. */
export function idOf(word: string, agents: ReadonlyMap<string, { readonly data: AgentData }>): string {
  if (agents.has(word)) return word
  const name = sameName(word)
  if (name === '') return word
  for (const [id, { data }] of agents) if (data.name !== undefined && sameName(data.name) === name) return id
  const read = word.startsWith('@') ? readAddress(word) : null
  if (read?.ok === true) for (const [id, { data }] of agents) if (data.address === read.address.text) return id
  return word
}
