/** Checks queries: a single SELECT, one value for each placeholder, readable schemas. */
import type { AgentData, Finding, Query } from '@witan/protocol'
import { type SchemaAllowance, schemaAllowance, schemaProblem } from '../../model/json-schema-problem.ts'
import { POSTGRES_LEXIS, placeholderNames, readQueryText, SQLITE_LEXIS } from '../../tool/query-text.ts'
import { propertyNames } from '../../tool/schema.ts'
import type { PatternAllowance } from '../../model/pattern.ts'
import type { QuerySource } from '../../tool/source.ts'
import { type Pausable, runWithPauses } from '../../identity/pausable.ts'
import { errorAt, type Surroundings } from './names.ts'

/** Findings about the queries and schemas of one agent. */
export async function checkQueries(
  agent: AgentData,
  {
    querySources,
    patterns,
  }: Pick<Surroundings, 'patterns'> & { readonly querySources: ReadonlyMap<string, QuerySource> },
): Promise<Finding[]> {
  const findings = await runWithPauses(checkSchemas(agent, patterns))
  for (const [index, query] of agent.queries.entries()) {
    const at = { agent, query, path: `queries.${index}` }
    const source = querySources.get(query.source)
    findings.push(...(source === undefined ? coverage(at, likelyPlaceholders(query)) : await checkQuery(at, source)))
  }
  return findings
}

/** Finds placeholders in any SQL dialect, because the source that knows its dialect is missing. */
function likelyPlaceholders({ query }: Query): readonly string[] {
  const [some = [], others = []] = [SQLITE_LEXIS, POSTGRES_LEXIS].map((lexis) =>
    placeholderNames(readQueryText(query, lexis)),
  )
  return some.filter((name) => others.includes(name))
}

interface QueryAt {
  readonly agent: AgentData
  readonly query: Query
  readonly path: string
}

async function checkQuery({ agent, query, path }: QueryAt, source: QuerySource): Promise<Finding[]> {
  const verdict = await source.check(query.query)
  const at = `${path}.query`
  const findings: Finding[] = []
  if (!verdict.ok && verdict.problem === 'unavailable') {
    const detail = `\`${query.name}\`: ${verdict.detail}`
    const hint = 'Only the text of the query was checked; make its source reachable to check the rest.'
    findings.push({ code: 'QUERY_FAILED', severity: 'warning', agent: agent.id, path: at, detail, hint })
  } else if (!verdict.ok) {
    return [
      errorAt(agent, at, {
        code: verdict.problem === 'invalid' ? 'QUERY_FAILED' : 'QUERY_NOT_READ_ONLY',
        detail: `\`${query.name}\`: ${verdict.detail}`,
        hint:
          verdict.problem === 'invalid'
            ? `Correct the text: \`${query.source}\` must understand it, with placeholders written \`$name\`.`
            : 'A query is a single statement that only reads.',
      }),
    ]
  }
  return [...findings, ...coverage({ agent, query, path }, verdict.placeholders)]
}

/** Every placeholder gets its value from exactly one parameter or argument. */
function coverage({ agent, query, path }: QueryAt, placeholders: readonly string[]): Finding[] {
  const declared = new Set(agent.parameters.map(({ name }) => name))
  const schema = query.parametersSchema ?? {}
  const required = new Set(Array.isArray(schema['required']) ? schema['required'].map(String) : [])
  const uncovered = placeholders
    .filter((name) => !declared.has(name) && (query.addToInitialContext || !required.has(name)))
    .map((name) =>
      errorAt(agent, `${path}.query`, {
        code: 'QUERY_PARAM_UNCOVERED',
        detail: `\`$${name}\` is neither an agent parameter nor a required tool argument${query.addToInitialContext ? ', and a query of the initial context takes no arguments' : ''}.`,
        hint: 'Declare the parameter, or list the name in `parametersSchema.required`.',
      }),
    )
  const twice = propertyNames(schema).filter((name) => declared.has(name))
  return [
    ...uncovered,
    ...twice.map((name) =>
      errorAt(agent, `${path}.parametersSchema`, {
        code: 'NAME_TAKEN',
        detail: `\`${name}\` is an agent parameter and a tool argument of \`${query.name}\`.`,
        hint: 'A value is either bound or written by the model: rename one of the two.',
      }),
    ),
  ]
}

interface SchemaAt {
  readonly agent: AgentData
  readonly path: string
  readonly patterns: PatternAllowance | undefined
  readonly schemas?: SchemaAllowance
}

/** A finding if a schema cannot be read, at the path of the unreadable part. */
export function* unreadable(
  { agent, path, patterns, schemas }: SchemaAt,
  schema: NonNullable<Schema>,
): Pausable<Finding[]> {
  const problem = yield* schemaProblem(schema, patterns, schemas)
  if (problem === null) return []
  const at = problem.path === '' ? path : `${path}.${problem.path}`
  const detail = `The JSON Schema at \`${at}\` cannot be read: ${problem.reason}`
  const isPattern = problem.reason.includes('pattern')
  const isExcess = schemas !== undefined && schemas.left < 0
  const hint = isPattern
    ? 'Patterns are those of RE2: without look-around and without references to groups.'
    : isExcess
      ? 'Shorten them, or make several agents of it.'
      : 'Draft 2020-12 and draft 7 are understood.'
  return [errorAt(agent, at, { code: 'AGENT_INVALID', detail, hint })]
}

function* checkSchemas(agent: AgentData, patterns: PatternAllowance | undefined): Pausable<Finding[]> {
  const findings: Finding[] = []
  const schemas = schemaAllowance()
  for (const key of ['queries', 'actions'] as const)
    for (const [index, { name, parametersSchema }] of agent[key].entries()) {
      const path = `${key}.${index}.parametersSchema`
      const broken =
        parametersSchema === null ? [] : yield* unreadable({ agent, path, patterns, schemas }, parametersSchema)
      findings.push(...broken)
      if (broken.length > 0 || takesObject(parametersSchema)) continue
      const detail = `The arguments of \`${name}\` are always an object, but its schema or sample is not.`
      const hint = 'Write `{ "type": "object", "properties": { … } }`, or an object as the sample.'
      findings.push(errorAt(agent, `${key}.${index}`, { code: 'AGENT_INVALID', detail, hint }))
    }
  const { outputSchema } = agent
  if (outputSchema !== null)
    findings.push(...(yield* unreadable({ agent, path: 'outputSchema', patterns }, outputSchema)))
  return findings
}

type Schema = Readonly<Record<string, unknown>> | null

/** True if an object can fit: a model always writes arguments as an object [Rb41]. */
export function takesObject(schema: Schema): boolean {
  const { type = 'object', properties = {} } = (schema ?? {}) as { type?: unknown; properties?: unknown }
  return [type].flat().includes('object') && typeof properties === 'object' && !Array.isArray(properties)
}
