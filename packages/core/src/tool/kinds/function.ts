/** Function tools: code in this process, named by agents. */
import type { FunctionTool } from '../define.ts'
import { result } from '../outcome.ts'
import { boundArguments, perBinding, withoutBound } from '../schema.ts'
import type { Caller, RunningTool, Tool, ToolSource } from '../tool.ts'

/** The function tools that the runtime knows, offered to the agents that name them. */
export function functionTools(known: ReadonlyMap<string, FunctionTool>): ToolSource {
  const toolOf = perBinding((tool: FunctionTool, bound) => asTool(tool, bound))
  return (caller: Caller): readonly Tool[] => {
    const tools: Tool[] = []
    for (const name of caller.agent.tools) {
      const tool = known.get(name)
      if (tool !== undefined) tools.push(toolOf(tool, caller.parameters.keys()))
    }
    return tools
  }
}

function asTool(tool: FunctionTool, bound: ReadonlySet<string>): RunningTool {
  const parameters = withoutBound(tool.jsonSchema, bound)
  return {
    name: tool.name,
    offer: { name: tool.name, description: tool.description, parameters },
    notice: null,
    effect: tool.effect,
    bound: [...bound],
    immediate: false,
    timeoutMs: tool.timeoutMs,
    check: parameters === tool.jsonSchema ? tool.check : (args) => ({ ok: true, arguments: args }),
    async invoke(request, { caller, signal }) {
      const values: Record<string, unknown> = {}
      for (const [name, value] of caller.parameters) values[name] = value.box.reveal()
      const own =
        parameters === tool.jsonSchema
          ? request.arguments
          : { ...request.arguments, ...boundArguments(tool.jsonSchema, caller.parameters) }
      const { callId } = request
      const context = {
        callId,
        conversationId: caller.conversationId,
        agent: caller.agent.id,
        agentPath: caller.agentPath,
        parameters: values,
        signal,
      }
      return result(await tool.execute(own, context))
    },
  }
}
