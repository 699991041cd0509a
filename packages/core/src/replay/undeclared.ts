/** Function tools that an export names and does not declare. A replay needs only their calls in the log. */
import type { Entry } from '@witan/protocol/entries'
import type { Effect } from '../tool/tool.ts'

/** A function tool as an export declares it. */
export interface DeclaredTool {
  readonly name: string
  readonly description: string
  readonly jsonSchema: Readonly<Record<string, unknown>>
  readonly effect: Effect
}

/** A declaration of this function tool, with the arguments that its calls in the log have. */
export function undeclaredTool(name: string, entries: readonly Entry[]): DeclaredTool {
  const calls = new Set<string>()
  const names = new Set<string>()
  const dropped = new Set<string>()
  let effect: DeclaredTool['effect'] = 'none'
  for (const { type, kind, place, body } of entries) {
    if (type === 'start' && kind === 'tool' && body.name === name) {
      calls.add(place.call)
      for (const one of [...Object.keys(objectOf(body.arguments)), ...body.bound]) names.add(one)
    } else if (type === 'notice' && body.code === 'ARGUMENT_UNKNOWN_DROPPED') {
      if (body.tool === name && body.argument !== undefined) dropped.add(body.argument)
    } else if (type === 'error' && kind === 'tool' && body.code === 'OUTCOME_UNKNOWN' && calls.has(place.call))
      effect = 'once'
  }
  const listed = [...names].filter((one) => !dropped.has(one))
  const properties = Object.fromEntries(listed.map((one) => [one, {}]))
  return { name, description: '', jsonSchema: { type: 'object', properties, additionalProperties: false }, effect }
}

function objectOf(value: unknown): object {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {}
}
