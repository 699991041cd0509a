/** Checks the knowledge bases of an agent: each exists, and what it demands is bound by parameters that no model supplies. */
import type { AgentData, Finding } from '@witan/protocol'
import { type KnowledgeBase, type KnowledgeUse, knowledgeUses } from '@witan/protocol/knowledge'
import { nearest } from '../../identity/nearest.ts'
import { errorAt } from './names.ts'

/** The bases of a set by id. */
interface BaseSurvey {
  readonly bases: ReadonlyMap<string, KnowledgeBase>
}

/** Findings about the bases of one agent. */
export function checkKnowledge(agent: AgentData, { bases }: BaseSurvey): Finding[] {
  return knowledgeUses(agent).flatMap((use, index): Finding[] => {
    const path = `knowledgeBases.${index}`
    const base = bases.get(use.id)
    return base === undefined ? [unknown(agent, { path, id: use.id }, bases)] : checkUse(agent, path, { use, base })
  })
}

function unknown(
  agent: AgentData,
  { path, id }: { readonly path: string; readonly id: string },
  bases: BaseSurvey['bases'],
): Finding {
  const near = nearest(id, [...bases.keys()])
  return errorAt(agent, path, {
    code: 'KNOWLEDGE_UNKNOWN',
    detail: `Agent \`${agent.id}\` lists the knowledge base \`${id}\`, which does not exist.`,
    hint: near === null ? `Save it first: PUT /api/v1/knowledge/${id}.` : `Did you mean \`${near}\`?`,
  })
}

function checkUse(
  agent: AgentData,
  path: string,
  { use, base }: { readonly use: KnowledgeUse; readonly base: KnowledgeBase },
): Finding[] {
  const missing = base.requiredFilters.filter((name) => !Object.hasOwn(use.filter, name))
  return [
    ...missing.map((name) =>
      errorAt(agent, `${path}.filter`, {
        code: 'KNOWLEDGE_FILTER_MISSING',
        detail: `Knowledge base \`${base.id}\` demands a filter by \`${name}\`, and agent \`${agent.id}\` binds none.`,
        hint: `Write { "id": "${base.id}", "filter": { "${name}": "a parameter of the agent" } }.`,
      }),
    ),
    ...Object.entries(use.filter).flatMap(([name, parameter]) =>
      checkFilter(agent, `${path}.filter.${name}`, { name, parameter, base }),
    ),
  ]
}

function checkFilter(
  agent: AgentData,
  path: string,
  { name, parameter, base }: { readonly name: string; readonly parameter: string; readonly base: KnowledgeBase },
): Finding[] {
  const attributes = Object.keys(base.attributes)
  if (!attributes.includes(name)) {
    const near = nearest(name, attributes)
    return [
      errorAt(agent, path, {
        code: 'KNOWLEDGE_FILTER_UNBOUND',
        detail: `Knowledge base \`${base.id}\` has no attribute \`${name}\`.`,
        hint:
          near === null
            ? `Attributes: ${attributes.join(', ') || 'none; declare it there'}.`
            : `Did you mean \`${near}\`?`,
      }),
    ]
  }
  const declared = agent.parameters.find((one) => one.name === parameter)
  if (declared === undefined) {
    const near = nearest(
      parameter,
      agent.parameters.map((one) => one.name),
    )
    return [
      errorAt(agent, path, {
        code: 'KNOWLEDGE_FILTER_UNBOUND',
        detail: `Agent \`${agent.id}\` filters by \`${parameter}\`, which it does not declare as a parameter.`,
        hint: near === null ? 'Declare it in `parameters`.' : `Did you mean \`${near}\`?`,
      }),
    ]
  }
  if (declared.policy === 'forbidModelGeneration') return []
  return [
    {
      code: 'KNOWLEDGE_FILTER_GENERATABLE',
      severity: 'warning',
      agent: agent.id,
      path,
      detail: `A model that calls \`${agent.id}\` may supply \`${parameter}\`, and with it choose which documents of \`${base.id}\` it sees.`,
      hint: 'Set `policy: "forbidModelGeneration"` on the parameter.',
    },
  ]
}
