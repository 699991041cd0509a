/** What the tools of these agents take, as JSON Schema. */

/** An object of which every field is required, as queries and actions want it. */
export function fields(properties: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false }
}

/** How many rows a query returns at most. */
export const limit = { type: 'integer', minimum: 1, maximum: 50, description: 'At most so many rows.' }
