/** Checks that the name of a hidden parameter stands in no schema where a model would read it. */
import type { AgentData, Finding } from '@witan/protocol'
import { namesInside } from '../../tool/schema-names.ts'
import { errorAt, type Surroundings } from './names.ts'

/** Arguments themselves are bound by name. A hidden name inside the value of one would be shown to the model, which fills it in [P5]. */
export function checkHiddenNames(agent: AgentData, { tools }: Pick<Surroundings, 'tools'>): Finding[] {
  const hidden = new Set(agent.parameters.filter(({ sendToModel }) => !sendToModel).map(({ name }) => name))
  if (hidden.size === 0) return []
  const at = (path: string, tool: string, schema: Readonly<Record<string, unknown>> | null | undefined): Finding[] =>
    [...namesInside(schema ?? {}, hidden)].map(([name, inside]) =>
      errorAt(agent, path, {
        code: 'NAME_TAKEN',
        detail: `\`${name}\` is a hidden parameter of \`${agent.id}\`, and \`${inside}\` inside an argument of \`${tool}\` shows the name to its model.`,
        hint: 'Only arguments themselves are bound: make it an argument of its own, or rename one of the two.',
      }),
    )
  return [
    ...agent.actions.flatMap((one, index) => at(`actions.${index}.parametersSchema`, one.name, one.parametersSchema)),
    ...agent.queries.flatMap((one, index) => at(`queries.${index}.parametersSchema`, one.name, one.parametersSchema)),
    ...agent.tools.flatMap((name, index) => at(`tools.${index}`, name, tools.get(name)?.jsonSchema)),
  ]
}
