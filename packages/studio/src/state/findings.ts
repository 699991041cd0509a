/** The findings of a check, and the fields of a definition that they are about. */
import type { Finding, StoredAgent } from '@witan/protocol'

/** What a check says of an agent, and of no other that it reaches: errors first. Without a check the warnings that are stored with it. */
export function findingsOf(
  agent: Pick<StoredAgent, 'id' | 'warnings'>,
  report: { readonly errors: readonly Finding[]; readonly warnings: readonly Finding[] } | undefined,
): readonly Finding[] {
  if (report === undefined) return agent.warnings
  return [...report.errors, ...report.warnings].filter((one) => one.agent === agent.id)
}

/** One field of a definition: a key of it, or a part of the value of one. */
export interface DefinitionField {
  /** Its path, such as `subAgents.0.agent`. */
  readonly path: string
  readonly name: string
  /** Its value where it has no fields of its own. */
  readonly value: unknown
  readonly fields: readonly DefinitionField[]
}

/** So deep stands each part as a field; deeper ones are one value. */
const deepest = 3

/** The fields of a definition, in its order. */
export function definitionFields(definition: object, path = '', level = 1): readonly DefinitionField[] {
  return Object.entries(definition).map(([name, value]: [string, unknown]) => {
    const at = path === '' ? name : `${path}.${name}`
    const isParted = level < deepest && typeof value === 'object' && value !== null && !isSchema(name)
    const fields = isParted ? definitionFields(value, at, level + 1) : []
    return { path: at, name, value, fields }
  })
}

/** A JSON Schema and a sample are read as a whole. */
function isSchema(name: string): boolean {
  return /(?:Schema|Sample)$/.test(name)
}

/** The path of the field that shows what stands at a path: itself, or the nearest one that it is in; null for none. */
export function shownField(fields: readonly DefinitionField[], path: string): string | null {
  const at = fields.find((one) => path === one.path || path.startsWith(`${one.path}.`))
  return at === undefined ? null : (shownField(at.fields, path) ?? at.path)
}
