/** Validators made from JSON Schemas that are data. */
import { z } from 'zod'

const validators = new WeakMap<object, z.ZodType>()

/** A validator made from a JSON Schema, once per schema object. Throws for a schema that cannot be read. */
export function validatorOf(schema: Readonly<Record<string, unknown>>): z.ZodType {
  const known = validators.get(schema)
  if (known !== undefined) return known
  const made = z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]) as z.ZodType
  validators.set(schema, made)
  return made
}

/** Issues in words: where, and what was expected; values are not echoed. */
export function issueWords(error: z.ZodError): string[] {
  return error.issues.map(({ path, message }) => {
    const where = path.length === 0 ? 'the value' : `\`${path.join('.')}\``
    return `${where}: ${message.replace(/^[A-Z][a-z ]+: (?=expected )/, '').replace(/, received (?=\S+$)/, ', got ')}`
  })
}
