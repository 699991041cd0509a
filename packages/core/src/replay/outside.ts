/** The models and tools of a replay. While it follows the log it calls none; once it has left the log, one model and known outcomes answer. */
import { type Model, ModelCallError, type ModelPart } from '../model/model.ts'
import { readReply } from '../model/read-reply.ts'
import type { ResultOutcome } from '../tool/outcome.ts'
import type { RunningTool, Toolset } from '../tool/tool.ts'

/** What answers once the log was left. */
export interface OutsideWorld {
  model: Model | null
  outcome: ((tool: string, args: Readonly<Record<string, unknown>>) => ResultOutcome) | null
}

/** A model of that id, for which another one answers. */
export function otherModel(id: string, outside: OutsideWorld): Model {
  return {
    id,
    async *stream(request, { signal }): AsyncGenerator<ModelPart> {
      if (outside.model === null) throw new Error('a replay asks no model')
      const reply = readReply(outside.model, request, { signal, deltas: false })
      yield { type: 'reply', reply: await reply.catch((error: unknown) => Promise.reject(asFailure(error))) }
    },
  }
}

function asFailure(error: unknown): ModelCallError {
  if (error instanceof ModelCallError) return error
  return new ModelCallError(error instanceof Error ? error.message : 'unknown trouble', { retryable: false })
}

/** The error with which a tool refused the arguments of a call, as the log says; null if it took them. */
type Refusal = (tool: string, args: Readonly<Record<string, unknown>>) => string | null

/** The same tools. What runs in the process takes or refuses arguments as in the log, and ends with known outcomes. */
export function loggedTools(tools: Toolset, outside: OutsideWorld, refusal: Refusal): Toolset {
  return new Map([...tools].map(([name, tool]) => [name, tool.immediate ? tool : loggedTool(tool, outside, refusal)]))
}

function loggedTool(tool: RunningTool, outside: OutsideWorld, refusal: Refusal): RunningTool {
  return {
    ...tool,
    check(args) {
      const detail = refusal(tool.name, args)
      if (detail !== null) return { ok: false, issues: [detail] }
      const checked = tool.check(args)
      return checked.ok ? checked : { ok: true, arguments: args }
    },
    invoke({ arguments: args }) {
      if (outside.outcome === null) throw new Error('a replay runs no tool')
      return outside.outcome(tool.name, args)
    },
  }
}
