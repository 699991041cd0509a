/** A definition without what the store adds to it. */

const added = new Set(['revision', 'source', 'warnings', 'by', 'via', 'at', 'modelKind'])

/** What somebody wrote of it. */
export function withoutStored(definition: object): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(definition).filter(([key]) => !added.has(key)))
}
