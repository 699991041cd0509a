/** Whether a final reply can be used: not empty, and of the shape that was asked for. */
import type { AgentData } from '@witan/protocol'
import { readJson } from '@witan/protocol/schemas'
import { validatorOf } from './json-schema.ts'

/** What is wrong with a reply: `detail` for people, `message` for the model where it is asked again. */
export interface OutputProblem {
  readonly detail: string
  readonly message: string | null
}

/** Null where the reply can be used. A last answer is taken as it is [E26]. */
export function outputProblem(agent: AgentData, text: string, offered: boolean): OutputProblem | null {
  if (!offered) return null
  if (text.trim() === '') return { detail: `The model of \`${agent.id}\` gave an empty answer twice.`, message: null }
  if (agent.outputSchema === null) return null
  const issue = schemaIssue(agent.outputSchema, text)
  if (issue === null) return null
  return {
    detail: `The answer of \`${agent.id}\` does not fit its output schema: ${issue}`,
    message: `Your answer does not fit the required JSON Schema: ${issue}. Answer again with that JSON and nothing else.`,
  }
}

/** The structured output of a final text, or null where the agent has none or the text is not of its shape. */
export function readOutput(agent: AgentData, text: string): unknown {
  if (agent.outputSchema === null) return null
  return schemaIssue(agent.outputSchema, text) === null ? JSON.parse(text) : null
}

function schemaIssue(schema: Readonly<Record<string, unknown>>, text: string): string | null {
  const read = readJson(text)
  if (!read.ok) return read.problem
  const issues = validatorOf(schema).issuesOf(read.value)
  return issues.length === 0 ? null : issues.slice(0, 5).join('; ')
}
