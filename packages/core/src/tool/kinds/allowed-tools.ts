/** Access to tools: an agent is offered only the tools that it may use in a run of this principal [C31]. */
import { mayUseTool } from '../../identity/agent-access.ts'
import { failed } from '../outcome.ts'
import type { Caller, ImmediateTool, Tool, ToolSource } from '../tool.ts'

/** The same tools; those that `access.tools` denies to the principal of the run are not offered, and refuse every call. */
export function allowed(source: ToolSource): ToolSource {
  return (caller: Caller): readonly Tool[] => {
    const tools = source(caller)
    const { agent, principal } = caller
    if (agent.access.tools === undefined) return tools
    return tools.map((tool) => (mayUseTool(agent.access, tool.name, principal) ? tool : denied(tool)))
  }
}

/** It takes any arguments, so that its refusal is the same for all. */
function denied({ name, kind, of, offer, withheld }: Tool): ImmediateTool {
  const detail = `\`${name}\` is not allowed in this run; nothing was run`
  return {
    name,
    kind,
    ...(of === undefined ? {} : { of }),
    withheld: { why: '`access.tools` does not let this caller use it.', offer: offer ?? withheld?.offer ?? null },
    offer: null,
    notice: null,
    effect: 'none',
    misuse: 'NOT_ALLOWED',
    bound: [],
    immediate: true,
    check: (args) => ({ ok: true, arguments: args }),
    invoke: () => failed('NOT_ALLOWED', detail),
  }
}
