/** Query tools: typed read-only queries whose placeholders are bound from parameters or from checked arguments [R49, Rb42]. */
import type { Query } from '@witan/protocol'
import { failed, type ResultOutcome, result } from '../outcome.ts'
import { checkSchema, noArguments, perBinding, withoutBound } from '../schema.ts'
import type { QuerySource, QueryValue } from '../source.ts'
import type { Caller, RunningTool, Tool, ToolSource } from '../tool.ts'

/** The queries of an agent as tools over the configured sources. */
export function queryTools(sources: ReadonlyMap<string, QuerySource>): ToolSource {
  const toolOf = perBinding((query: Query, bound) => asTool(query, bound, sources))
  return (caller: Caller): readonly Tool[] =>
    caller.agent.queries.map((query) => toolOf(query, caller.parameters.keys()))
}

function asTool(query: Query, bound: ReadonlySet<string>, sources: ReadonlyMap<string, QuerySource>): RunningTool {
  const parameters = withoutBound(query.parametersSchema ?? noArguments, bound)
  return {
    name: query.name,
    offer: query.allowModelQueries ? { name: query.name, description: query.description, parameters } : null,
    notice: null,
    effect: 'none',
    bound: [...bound],
    immediate: false,
    timeoutMs: 30_000,
    check: (args) => checkSchema(parameters, args),
    async invoke(request, { caller, signal }) {
      const source = sources.get(query.source)
      if (source === undefined)
        return failed('SOURCE_UNKNOWN', `\`${query.name}\` reads source \`${query.source}\`, which is not configured.`)
      const answer = await source.run({ sql: query.query, bindings: bindingsOf(request.arguments, caller) }, { signal })
      return answer.ok ? result(answer.rows, answer.truncated) : failure(query, answer.reason)
    },
  }
}

/** Arguments first, bound values over them: a bound value always wins [C19]. */
function bindingsOf(args: Readonly<Record<string, unknown>>, caller: Caller): ReadonlyMap<string, QueryValue> {
  const bindings = new Map<string, QueryValue>()
  for (const [name, value] of Object.entries(args)) bindings.set(name, value as QueryValue)
  for (const [name, value] of caller.parameters) bindings.set(name, value.box.reveal())
  return bindings
}

/** In our own words: what a database says may quote a bound value. */
function failure(query: Query, reason: 'timeout' | 'aborted' | 'refused' | 'failed'): ResultOutcome {
  const { name } = query
  if (reason === 'timeout') return failed('QUERY_TIMEOUT', `\`${name}\` was stopped after 5 s.`)
  if (reason === 'aborted') return failed('RUN_CANCELLED', `\`${name}\` was stopped.`)
  if (reason === 'refused')
    return failed(
      'QUERY_PARAM_UNCOVERED',
      `\`${name}\` was not run: a placeholder has no value, or a value has no form the database takes.`,
    )
  return failed('QUERY_FAILED', `\`${name}\` failed in the database.`)
}
