/** Whether a final reply can be used: not empty, and of the shape that was asked for, in its text or in a tool call. */
import type { AgentData } from '@witan/protocol'
import { parseExact } from '@witan/protocol/digits'
import { readJson } from '@witan/protocol/schemas'
import { validatorOf } from './json-schema.ts'
import type { ModelTool } from './model.ts'

/** What is wrong with a reply: `detail` for people, `message` for the model where it is asked again. */
export interface OutputProblem {
  readonly detail: string
  readonly message: string | null
}

/** Null where the reply can be used. One that need not fit is taken as it is [E26]. `mismatch` says of an issue what it is about. */
export function outputProblem(
  agent: AgentData,
  text: string,
  { mustFit, mismatch }: { readonly mustFit: boolean; mismatch(issue: string): string },
): OutputProblem | null {
  if (!mustFit) return null
  if (text.trim() === '') return { detail: `The model of \`${agent.id}\` gave an empty answer twice.`, message: null }
  if (agent.outputSchema === null || asksOutput(agent)) return null
  const issue = schemaIssue(agent.outputSchema, text)
  if (issue === null) return null
  return {
    detail: mismatch(issue),
    message: `Your answer does not fit the required JSON Schema: ${issue}. Answer again with that JSON and nothing else.`,
  }
}

/** The structured output of a final text, or null where the agent has none or the text is not of its shape. */
export function readOutput(agent: AgentData, text: string): unknown {
  if (agent.outputSchema === null) return null
  return schemaIssue(agent.outputSchema, text) === null ? parseExact(text) : null
}

/** The same, told apart from the answer `null`. */
export function outputValue(agent: AgentData, text: string): { readonly value: unknown } | null {
  if (agent.outputSchema === null || schemaIssue(agent.outputSchema, text) !== null) return null
  return { value: parseExact(text) }
}

/** Whether the structured answer of an agent comes in a call of `set_output` after its text, not in the text [Tb10]. */
export function asksOutput({ outputMode, outputSchema }: AgentData): boolean {
  return outputMode === 'tool' && outputSchema !== null
}

/** The tool that takes the structured answer. */
export const outputToolName = 'set_output'

const outputTools = new WeakMap<AgentData, readonly ModelTool[]>()

/** The one tool of the request for a structured answer. Its parameters are the output schema; one of another type than object stands under `output`. */
export function outputToolsOf(agent: AgentData): readonly ModelTool[] {
  const known = outputTools.get(agent)
  if (known !== undefined) return known
  const schema = agent.outputSchema ?? {}
  const parameters = isObjectSchema(schema) ? schema : wrapped(schema)
  const description = 'Gives your answer above in its structured form.'
  const made = [{ name: outputToolName, description, parameters }]
  outputTools.set(agent, made)
  return made
}

type Schema = Readonly<Record<string, unknown>>

function isObjectSchema({ type }: Schema): boolean {
  return type === 'object'
}

/** References of the schema begin at its root, so its definitions move to the new one. */
function wrapped({ $defs, definitions, ...output }: Schema): Schema {
  const moved = { ...($defs === undefined ? {} : { $defs }), ...(definitions === undefined ? {} : { definitions }) }
  return { type: 'object', properties: { output }, required: ['output'], additionalProperties: false, ...moved }
}

/** What is wrong with the arguments of `set_output`; null where they are the structured answer of the agent. */
export function outputIssue(agent: AgentData, written: string): string | null {
  const schema = agent.outputSchema ?? {}
  const read = readJson(written)
  if (!read.ok) return read.problem
  if (isObjectSchema(schema)) return firstIssues(schema, read.value)
  const isWrapped = typeof read.value === 'object' && read.value !== null && Object.hasOwn(read.value, 'output')
  return isWrapped ? firstIssues(schema, (read.value as { output: unknown }).output) : 'output is missing'
}

/** The structured answer in arguments of `set_output` that have no issue. */
export function outputIn({ outputSchema }: AgentData, written: string): unknown {
  const value: unknown = parseExact(written)
  return isObjectSchema(outputSchema ?? {}) ? value : (value as { output: unknown }).output
}

function schemaIssue(schema: Readonly<Record<string, unknown>>, text: string): string | null {
  const read = readJson(text)
  if (!read.ok) return read.problem
  return firstIssues(schema, read.value)
}

function firstIssues(schema: Schema, value: unknown): string | null {
  const issues = validatorOf(schema).issuesOf(value)
  return issues.length === 0 ? null : issues.slice(0, 5).join('; ')
}
