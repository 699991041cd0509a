/** Function tools: code in this process, named by agents. */
import type { FunctionTool } from '../define.ts'
import { failed, given } from '../outcome.ts'
import { boundArguments, checkSchema, perBinding, withoutBound } from '../schema.ts'
import type { Caller, RunningTool, Tool, ToolSource } from '../tool.ts'

/** The function tools that the runtime knows, offered to the agents that name them. */
export function functionTools(known: ReadonlyMap<string, FunctionTool>): ToolSource {
  const toolOf = perBinding((tool: FunctionTool, bound) => asTool(tool, bound))
  return (caller: Caller): readonly Tool[] => {
    const tools: Tool[] = []
    for (const name of caller.agent.tools) {
      const tool = known.get(name)
      tools.push(tool === undefined ? unavailable(name) : toolOf(tool, caller.parameters.keys()))
    }
    return tools
  }
}

/** The agent names a tool that is not in this process's configuration: told once, and in words to whoever calls it all the same. */
function unavailable(name: string): RunningTool {
  const why = `tool \`${name}\` is not in the configuration of the process that works on this.`
  return {
    name,
    offer: null,
    notice: `Not offered: ${why}`,
    noticeCode: 'TOOL_UNAVAILABLE',
    effect: 'none',
    bound: [],
    immediate: false,
    timeoutMs: 1_000,
    check: (args) => ({ ok: true, arguments: args }),
    invoke: () => failed('TOOL_UNKNOWN', `T${why.slice(1)}`),
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
    // With bound names its own schema can only check the whole, once the values are there; the model's part is checked here.
    check: parameters === tool.jsonSchema ? tool.check : (args) => checkSchema(parameters, args),
    async invoke(request, { caller, signal }) {
      const values: Record<string, unknown> = {}
      for (const [name, value] of caller.parameters) values[name] = value.box.reveal()
      const own =
        parameters === tool.jsonSchema
          ? ({ ok: true, arguments: request.arguments } as const)
          : tool.check({ ...request.arguments, ...boundArguments(tool.jsonSchema, caller.parameters) })
      if (!own.ok) return failed('TOOL_ARGS_INVALID', withoutBoundOnes(own.issues, values))
      const { callId } = request
      const context = {
        callId,
        conversationId: caller.conversationId,
        agent: caller.agent.id,
        agentPath: caller.agentPath,
        parameters: values,
        signal,
      }
      return given(tool.name, await tool.execute(own.arguments, context))
    },
  }
}

/** What is wrong, in words that neither name nor quote what is bound [P5]. */
function withoutBoundOnes(issues: readonly string[], bound: Readonly<Record<string, unknown>>): string {
  const words = Object.entries(bound).flatMap(([name, value]) => [name, ...[value].flat().map(String)])
  const told = issues.filter((issue) => !words.some((word) => word !== '' && issue.includes(word))).slice(0, 5)
  return told.length === 0 ? 'a value that the system supplies does not fit this tool' : told.join('; ')
}
