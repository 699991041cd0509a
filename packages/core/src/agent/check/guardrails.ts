/** Checks the guardrails of an agent: each can be used, and has something to look at. */
import type { AgentData, Finding } from '@witan/protocol'
import type { GuardrailSide } from '@witan/protocol/entries'
import type { Pausable } from '../../identity/pausable.ts'
import { schemaProblem } from '../../model/json-schema-problem.ts'
import { type PatternAllowance, patternAllowance, patternOf } from '../../model/pattern.ts'
import { nearest } from '../../identity/nearest.ts'
import { errorAt, type Surroundings } from './names.ts'

/** Findings about the guardrails of one agent. A definition of an earlier version has none. */
export function* checkGuardrails(
  agent: AgentData,
  agents: ReadonlyMap<string, AgentData>,
  { patterns = patternAllowance() }: Pick<Surroundings, 'patterns'>,
): Pausable<Finding[]> {
  const findings: Finding[] = []
  const { guardrails } = agent as Partial<Pick<AgentData, 'guardrails'>>
  for (const side of ['input', 'output'] as const)
    for (const [index, check] of (guardrails?.[side] ?? []).entries()) {
      yield
      const at = { agent, path: `guardrails.${side}.${index}`, name: check.name, side }
      if (check.kind === 'pattern') findings.push(...patternFindings(at, check.pattern, patterns))
      else if (check.kind === 'agent') findings.push(...agentFindings(at, check.agent, agents))
      else findings.push(...(yield* schemaFindings(at, check.schema, patterns)))
    }
  return findings
}

interface At {
  readonly agent: AgentData
  readonly path: string
  readonly name: string
  readonly side: GuardrailSide
}

function invalid({ agent, name }: At, path: string, { why, hint }: { readonly why: string; readonly hint: string }) {
  const detail = `Guardrail \`${name}\` of agent \`${agent.id}\` cannot be used: ${why}.`
  return errorAt(agent, path, { code: 'GUARDRAIL_INVALID', detail, hint })
}

function patternFindings(at: At, pattern: string, patterns: PatternAllowance): Finding[] {
  const reason = patterns.count(pattern)
  const made = reason ?? patternOf(pattern)
  if (typeof made !== 'string') return []
  const hint = 'Patterns are those of RE2: without look-around and without references to groups.'
  return [invalid(at, `${at.path}.pattern`, { why: made, hint })]
}

function* schemaFindings(at: At, schema: object, patterns: PatternAllowance): Pausable<Finding[]> {
  const path = `${at.path}.schema`
  if (at.agent.outputSchema === null) {
    const hint = 'Give the agent an `outputSchema`, or check its text by a pattern.'
    return [invalid(at, path, { why: 'the agent has no structured output to check', hint })]
  }
  const problem = yield* schemaProblem(schema as Readonly<Record<string, unknown>>, patterns)
  if (problem === null) return []
  const hint = 'Draft 2020-12 and draft 7 are understood; patterns are those of RE2.'
  return [invalid(at, problem.path === '' ? path : `${path}.${problem.path}`, { why: problem.reason, hint })]
}

function agentFindings(at: At, id: string, agents: ReadonlyMap<string, AgentData>): Finding[] {
  const path = `${at.path}.agent`
  const checking = agents.get(id)
  if (checking === undefined) {
    const near = nearest(id, [...agents.keys()])
    const hint = near === null ? 'Save it first, or in the same batch.' : `Did you mean \`${near}\`?`
    return [invalid(at, path, { why: `there is no agent \`${id}\``, hint })]
  }
  if (checking.parents === null || checking.parents.includes(at.agent.id)) return []
  const hint = `Add \`${at.agent.id}\` to \`parents\` of \`${id}\`.`
  return [invalid(at, path, { why: `\`${id}\` may not be listed by it`, hint })]
}
