/** Function tools: code in this process, named by agents. */
import { isWitanError } from '@witan/protocol'
import { validatorOf } from '../../model/json-schema.ts'
import { ownCopy } from '../../identity/frozen.ts'
import type { FunctionTool } from '../define-tool.ts'
import type { FindAgent } from '../delegation.ts'
import { failed, returned } from '../outcome.ts'
import { boundArguments, checkSchema, perBinding } from '../schema.ts'
import { alternativesOf, describesName } from '../schema-names.ts'
import { withoutBound } from '../without-bound.ts'
import type { ArgumentCheck, Caller, RunningTool, Tool, ToolSource } from '../tool.ts'
import { functionRun } from './function-context.ts'

/** The function tools that the runtime knows, offered to the agents that name them. */
export function functionTools(known: ReadonlyMap<string, FunctionTool>, find: FindAgent): ToolSource {
  const toolOf = perBinding((tool: FunctionTool, bound) => asTool({ tool, find }, bound))
  return (caller: Caller): readonly Tool[] => {
    const tools: Tool[] = []
    for (const name of caller.agent.tools) {
      const tool = known.get(name)
      tools.push(tool === undefined ? unavailable(name) : toolOf(tool, caller.parameters.keys()))
    }
    return tools
  }
}

/** The agent names a tool that this process's configuration lacks. This is reported once, and a call gets an explanation. */
function unavailable(name: string): RunningTool {
  const why = `tool \`${name}\` is not in the configuration of the process that works on this.`
  return {
    name,
    kind: 'function',
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

function asTool(
  { tool, find }: { readonly tool: FunctionTool; readonly find: FindAgent },
  bound: ReadonlySet<string>,
): RunningTool {
  const parameters = withoutBound(tool.jsonSchema, bound)
  return {
    name: tool.name,
    kind: 'function',
    offer: { name: tool.name, description: tool.description, parameters },
    notice: null,
    effect: tool.effect,
    bound: [...bound],
    uses: [...bound].filter((name) => describesName(tool.jsonSchema, name)),
    immediate: false,
    timeoutMs: tool.timeoutMs,
    // With bound names, the tool's own schema can only check the complete arguments, once the bound values are known.
    // The model's part is checked here, as far as its JSON Schema allows.
    check:
      parameters === tool.jsonSchema
        ? tool.check
        : (args) =>
            validatorOf(parameters).fits(args) === 'unknown'
              ? { ok: true, arguments: args }
              : checkSchema(parameters, args),
    async invoke(request, on) {
      const { caller } = on
      const values: Record<string, unknown> = {}
      for (const [name, value] of caller.parameters) values[name] = value.box.reveal()
      const own =
        parameters === tool.jsonSchema
          ? ({ ok: true, arguments: request.arguments } as const)
          : completed(tool, request.arguments, caller)
      if (!own.ok) return failed('TOOL_ARGS_INVALID', withoutBoundOnes(own.issues, values))
      const run = functionRun({ tool, find, parameters: watched(values, on.noteBound) }, request, on)
      try {
        const value = await tool.execute(ownCopy(own.arguments), run.context)
        return run.waitsFor() ?? returned(tool.name, value)
      } catch (error) {
        const pending = run.waitsFor()
        if (pending !== null) return pending
        if (isWitanError(error) && error.code === 'ARTIFACT_TOO_LARGE') return failed(error.code, error.message)
        throw error
      }
    },
  }
}

/**
 * The arguments with all bound values that the schema describes. If the tool does not take all together, because its alternatives
 * list different names, with those of the first alternative that fits.
 */
function completed(tool: FunctionTool, args: Readonly<Record<string, unknown>>, { parameters }: Caller): ArgumentCheck {
  const bound = boundArguments(tool.jsonSchema, parameters)
  const checked = tool.check({ ...args, ...bound })
  if (checked.ok) return checked
  for (const names of alternativesOf(tool.jsonSchema)) {
    const own = Object.entries(bound).filter(([name]) => names.has(name))
    if (own.length === Object.keys(bound).length) continue
    const fitting = tool.check({ ...args, ...Object.fromEntries(own) })
    if (fitting.ok) return fitting
  }
  return checked
}

/** The same values, and a callback for each read. The properties still list, copy and assign like ordinary ones. */
function watched(
  values: Readonly<Record<string, unknown>>,
  noteBound: (name: string) => void,
): Record<string, unknown> {
  const shown: Record<string, unknown> = {}
  for (const name of Object.keys(values)) {
    Object.defineProperty(shown, name, {
      enumerable: true,
      configurable: true,
      get() {
        noteBound(name)
        return values[name]
      },
      set: (value: unknown) =>
        Object.defineProperty(shown, name, { value, enumerable: true, configurable: true, writable: true }),
    })
  }
  return shown
}

/** Describes problems without names or values of bound parameters [P5]. */
function withoutBoundOnes(issues: readonly string[], bound: Readonly<Record<string, unknown>>): string {
  const words = Object.entries(bound).flatMap(([name, value]) => [name, ...[value].flat().map(String)])
  const shown = issues.filter((issue) => !words.some((word) => word !== '' && issue.includes(word))).slice(0, 5)
  return shown.length === 0 ? 'a value that the system supplies does not fit this tool' : shown.join('; ')
}
