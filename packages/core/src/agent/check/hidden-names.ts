/** Checks that the name of a hidden parameter stands in no schema where a model would read it. */
import type { AgentData, Finding } from '@witan/protocol'
import type { Pausable } from '../../identity/pausable.ts'
import { namesInside } from '../../tool/schema-names.ts'
import { errorAt, type Surroundings } from './names.ts'

/** Arguments themselves are bound by name. A hidden name inside the value of one would be shown to the model, which fills it in [P5]. */
export function* checkHiddenNames(agent: AgentData, { tools }: Pick<Surroundings, 'tools'>): Pausable<Finding[]> {
  const hidden = new Set(agent.parameters.filter(({ sendToModel }) => !sendToModel).map(({ name }) => name))
  if (hidden.size === 0) return []
  const findings: Finding[] = []
  for (const { path, tool, schema } of schemasOf(agent, tools))
    for (const [name, inside] of yield* namesInside(schema ?? {}, hidden))
      findings.push(
        errorAt(agent, path, {
          code: 'NAME_TAKEN',
          detail: `\`${name}\` is a hidden parameter of \`${agent.id}\`, and \`${inside}\` inside an argument of \`${tool}\` shows the name to its model.`,
          hint: 'Only arguments themselves are bound: make it an argument of its own, or rename one of the two.',
        }),
      )
  return findings
}

/** The schemas of arguments that an agent's model reads, with where each stands. */
function schemasOf({ actions, queries, tools }: AgentData, known: Surroundings['tools']) {
  return [
    ...actions.map((one, at) => ({
      path: `actions.${at}.parametersSchema`,
      tool: one.name,
      schema: one.parametersSchema,
    })),
    ...queries.map((one, at) => ({
      path: `queries.${at}.parametersSchema`,
      tool: one.name,
      schema: one.parametersSchema,
    })),
    ...tools.map((name, at) => ({ path: `tools.${at}`, tool: name, schema: known.get(name)?.jsonSchema })),
  ]
}
