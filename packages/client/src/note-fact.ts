/** Notes at a call what an agent looked up, remembered, planned and thought of its answer, and what hooks made of that. */
import type { EventOf } from '@witan/protocol'
import type { Call } from './folded-call.ts'
import { readCritique } from './read-critique.ts'
import { readHook } from './read-hook.ts'
import { readRetrieval } from './read-knowledge.ts'
import { readMcp } from './read-mcp.ts'
import { readMemory } from './read-memory.ts'
import { readPlan } from './read-plan.ts'

/** What of a view is needed. */
interface Noted {
  readonly lastSeq: number
  readonly calls: ReadonlyMap<string, Call>
}

/** Notes one fact, and returns the call that has it now. A plan stands at the call that wrote it, what a tool call wrote to memory at that call. */
export function noteFact(
  { lastSeq, calls }: Noted,
  event: EventOf<'retrieval' | 'memory' | 'plan' | 'critique' | 'hook' | 'tools'>,
): Call | null {
  const call = calls.get((event.type === 'plan' ? event.parentCallId : event.callId) ?? '') ?? null
  if (call === null) return null
  if (event.type === 'retrieval') call.retrievals.push(readRetrieval(event, lastSeq))
  else if (event.type === 'memory') call.memories.push(readMemory(event, lastSeq))
  else if (event.type === 'critique') call.critiques.push(readCritique(event, lastSeq))
  else if (event.type === 'tools') call.mcp = readMcp(event.content.mcp)
  else if (event.type === 'hook') call.hooks.push(readHook(event, lastSeq))
  else call.plan = readPlan(call.plan, event.content)
  return call
}
