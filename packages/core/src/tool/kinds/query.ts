/** Query tools: typed read-only queries whose placeholders are bound from parameters or from checked arguments [R49, Rb42]. */
import type { ErrorCode, Query } from '@witan/protocol'
import { placeholderNames, POSTGRES_LEXIS, readQueryText } from '../query-text.ts'
import { failed, type ResultOutcome, returned } from '../outcome.ts'
import { checkSchema, noArguments, perBinding } from '../schema.ts'
import { withoutBound } from '../without-bound.ts'
import type { QueryFailureReason, QuerySource, QueryValue } from '../source.ts'
import type { Caller, RunningTool, Tool, ToolSource } from '../tool.ts'

/** The queries of an agent as tools over the configured sources. */
export function queryTools(sources: ReadonlyMap<string, QuerySource>): ToolSource {
  const toolOf = perBinding((query: Query, bound) => asTool(query, bound, sources))
  return (caller: Caller): readonly Tool[] =>
    caller.agent.queries.map((query) => toolOf(query, caller.parameters.keys()))
}

function asTool(query: Query, bound: ReadonlySet<string>, sources: ReadonlyMap<string, QuerySource>): RunningTool {
  const parameters = withoutBound(query.parametersSchema ?? noArguments, bound)
  const offer = { name: query.name, description: query.description, parameters }
  return {
    name: query.name,
    kind: 'query',
    of: query.source,
    offer: query.allowModelQueries ? offer : null,
    ...(query.allowModelQueries
      ? {}
      : { initialOnly: true as const, withheld: { why: 'It runs only when a document begins.', offer } }),
    notice: null,
    effect: 'none',
    bound: [...bound],
    uses: namesIn(query).filter((name) => bound.has(name)),
    immediate: false,
    timeoutMs: 30_000,
    check: (args) => checkSchema(parameters, args),
    async invoke(request, { caller, signal }) {
      const source = sources.get(query.source)
      if (source === undefined)
        return failed('SOURCE_UNKNOWN', `\`${query.name}\` reads source \`${query.source}\`, which is not configured.`)
      const answer = await source.run({ sql: query.query, bindings: bindingsOf(request.arguments, caller) }, { signal })
      if (!answer.ok) return failure(query, answer.reason)
      // An empty array would mean that there are no rows.
      if (answer.truncated && answer.rows.length === 0)
        return failed('QUERY_FAILED', `\`${query.name}\` gave nothing: its first row is larger than 256 kB.`)
      // A source may be the program's own, which keeps its rows.
      const rows = await returned(query.name, answer.rows)
      return answer.truncated ? { ...rows, truncated: true } : rows
    },
  }
}

/**
 * The placeholders of the query's text. The lexis of PostgreSQL fits every text that a source accepts, since none is in
 * quotes.
 */
function namesIn({ query }: Query): readonly string[] {
  return placeholderNames(readQueryText(query, POSTGRES_LEXIS))
}

/** The arguments, overridden by bound values: a bound value always wins [C19]. */
function bindingsOf(args: Readonly<Record<string, unknown>>, caller: Caller): ReadonlyMap<string, QueryValue> {
  const bindings = new Map<string, QueryValue>()
  for (const [name, value] of Object.entries(args)) bindings.set(name, value as QueryValue)
  for (const [name, value] of caller.parameters) bindings.set(name, value.box.reveal())
  return bindings
}

/** Our own texts, because a database's error may quote a bound value. */
const failures: Readonly<Record<QueryFailureReason, readonly [code: ErrorCode, words: string]>> = {
  timeout: ['QUERY_TIMEOUT', 'was stopped after 5 s'],
  aborted: ['RUN_CANCELLED', 'was stopped'],
  unbound: ['QUERY_PARAM_UNCOVERED', 'was not run: a placeholder of it has no value'],
  unfit: ['QUERY_FAILED', 'was not run: a value has no form that the database takes in its place'],
  'not-read-only': ['QUERY_NOT_READ_ONLY', 'was not run: it is not one statement that only reads'],
  failed: ['QUERY_FAILED', 'failed in the database'],
}

function failure({ name }: Query, reason: QueryFailureReason): ResultOutcome {
  const [code, words] = failures[reason]
  return failed(code, `\`${name}\` ${words}.`)
}
