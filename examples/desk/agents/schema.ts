/** What queries take, as JSON Schema. */

/** The schema of an object in which every field is required. */
export function fields(properties: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false }
}
