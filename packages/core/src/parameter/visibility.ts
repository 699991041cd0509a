/** Which bound values an agent's model may see [R35, C17]. */
import type { Parameter, ParameterValue } from '@witan/protocol'
import type { Bound } from './parameter.ts'

/** Shown to an agent's model: declared by that agent, allowed by its declaration, allowed by the conversation. */
export function isShown(parameter: Parameter, bound: Bound): boolean {
  const value = bound.get(parameter.name)
  return value !== undefined && parameter.sendToModel && !value.hidden
}

/** The visible values by name: what an event and a document may show of an agent's parameters. */
export function visibleValues(declared: readonly Parameter[], bound: Bound): Record<string, ParameterValue> {
  const shown: Record<string, ParameterValue> = {}
  for (const parameter of declared) {
    if (isShown(parameter, bound))
      shown[parameter.name] = (bound.get(parameter.name)?.box.reveal() ?? null) as ParameterValue
  }
  return shown
}

/** The lines that follow an agent's instructions: visible values as JSON; of hidden ones only that the system supplies them [R52]. */
export function parameterLines(declared: readonly Parameter[], bound: Bound): string {
  let lines = ''
  for (const parameter of declared) {
    lines += isShown(parameter, bound)
      ? `\n${parameter.name} = ${JSON.stringify(bound.get(parameter.name)?.box.reveal())}`
      : `\n${parameter.name}: supplied by the system`
  }
  return lines
}
