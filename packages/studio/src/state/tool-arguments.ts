/** The form for the arguments of a tool, made of its JSON Schema: a field for each property whose value fits into a line, else JSON. */
import { parseExact } from '@witan/protocol/digits'

/** One field of the form. `json`: its text is read as JSON. */
export interface ArgumentField {
  readonly name: string
  readonly description: string
  readonly isRequired: boolean
  readonly kind: 'text' | 'number' | 'boolean' | 'choice' | 'json'
  readonly choices: readonly string[]
}

type Schema = Readonly<Record<string, unknown>>

/** The fields of a schema of type object, as it lists them; at most 100. */
export function argumentFields(schema: Schema): readonly ArgumentField[] {
  const properties = isObject(schema.properties) ? schema.properties : {}
  const required = Array.isArray(schema.required) ? schema.required : []
  return Object.entries(properties)
    .slice(0, 100)
    .map(([name, one]) => {
      const property = isObject(one) ? one : {}
      const choices = choicesOf(property)
      return {
        name,
        description: typeof property.description === 'string' ? property.description : '',
        isRequired: required.includes(name),
        kind: choices.length > 0 ? 'choice' : kindOf(property.type),
        choices,
      }
    })
}

function choicesOf({ enum: values }: Schema): readonly string[] {
  return Array.isArray(values) && values.every((one) => typeof one === 'string') ? values : []
}

function kindOf(type: unknown): ArgumentField['kind'] {
  if (type === 'string') return 'text'
  if (type === 'number' || type === 'integer') return 'number'
  return type === 'boolean' ? 'boolean' : 'json'
}

/** The arguments that the texts of a form say, or which of them cannot be read. An empty text is left out. */
export function writtenArguments(
  fields: readonly ArgumentField[],
  texts: Readonly<Record<string, string>>,
): { readonly written: Record<string, unknown>; readonly problems: Record<string, string> } {
  const written: Record<string, unknown> = {}
  const problems: Record<string, string> = {}
  for (const { name, kind } of fields) {
    const text = texts[name] ?? ''
    if (text === '') continue
    if (kind === 'text' || kind === 'choice') written[name] = text
    else {
      const read = readJson(text)
      if (read === undefined) problems[name] = kind === 'number' ? 'This is not a number.' : 'This is not JSON.'
      else written[name] = read
    }
  }
  return { written, problems }
}

function readJson(text: string): unknown {
  try {
    return parseExact(text)
  } catch {
    return undefined
  }
}

function isObject(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
