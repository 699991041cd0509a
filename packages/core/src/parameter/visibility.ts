/** Which bound values an agent's model may see [R35, C17]. */
import type { Parameter, ParameterValue } from '@witan/protocol'
import type { Bound } from './parameter.ts'

/** True if an agent's model may see the value: the agent declares it, and both its declaration and the conversation allow it. */
export function isShown(parameter: Parameter, bound: Bound): boolean {
  const value = bound.get(parameter.name)
  return value !== undefined && parameter.sendToModel && !value.hidden
}

/** The visible values by name: what events and documents may show of an agent's parameters. */
export function visibleValues(declared: readonly Parameter[], bound: Bound): Record<string, ParameterValue> {
  const shown: Record<string, ParameterValue> = {}
  for (const parameter of declared) {
    if (isShown(parameter, bound))
      shown[parameter.name] = (bound.get(parameter.name)?.box.reveal() ?? null) as ParameterValue
  }
  return shown
}

/** The names of bound values that are not shown, for readers who may know that they exist. */
export function hiddenNames(declared: readonly Parameter[], bound: Bound): readonly string[] {
  return declared.filter((parameter) => bound.has(parameter.name) && !isShown(parameter, bound)).map(({ name }) => name)
}

/** The parameters of a start entry: the values that the agent's model sees, and the names of the others. */
export function startParameters(
  declared: readonly Parameter[],
  bound: Bound,
): { readonly parameters: Record<string, ParameterValue>; readonly hiddenParameters?: readonly string[] } {
  const hidden = hiddenNames(declared, bound)
  const parameters = visibleValues(declared, bound)
  return hidden.length === 0 ? { parameters } : { parameters, hiddenParameters: hidden }
}

/**
 * The lines after an agent's instructions: visible values as JSON. For hidden values they say only that the system supplies
 * them [R52].
 */
export function parameterLines(declared: readonly Parameter[], bound: Bound): string {
  let lines = ''
  for (const parameter of declared) {
    lines += isShown(parameter, bound)
      ? `\n${parameter.name} = ${JSON.stringify(bound.get(parameter.name)?.box.reveal())}`
      : `\n${parameter.name}: supplied by the system`
  }
  return lines
}
