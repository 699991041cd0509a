/** The system message of an agent. */
import { edgesOf } from '@witan/protocol/edges'
import { breaksEscaped, markForeign } from '../model/attribution.ts'
import type { ModelMessage } from '../model/message.ts'
import { parameterLines } from '../parameter/visibility.ts'
import type { AgentCall } from './state.ts'

/** What a system message holds beside the agent's own words. */
interface SystemParts {
  /** How deep its run may go. */
  readonly maxDepth: number
  /** What its tools add, one line each. */
  readonly lines: readonly string[]
}

/** Instructions, parameters and the lines of its tools; at the last level one line more says that no other agent can be asked [C2]. */
export function systemMessage({ agent, parameters, depth }: AgentCall, { maxDepth, lines }: SystemParts): ModelMessage {
  const own = agent.instructions + breaksEscaped(parameterLines(agent.parameters, parameters))
  // Lines hold words of other definitions, such as the purpose of a protocol.
  const content = lines.length === 0 ? own : [own, ...lines.map(markForeign)].join('\n')
  if (depth < maxDepth || !edgesOf(agent).some(({ addsDepth }) => addsDepth)) return { role: 'system', content }
  const cue = `This is the last level (${depth} of ${maxDepth}): answer with what you have, no other agent can be asked.`
  return { role: 'system', content: `${content}\n${cue}` }
}
