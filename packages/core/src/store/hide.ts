/** Hides parameters of a conversation that is there already: the same for every driver [E19]. */
import type { ConversationRow } from './store.ts'

/** The parameters with these names hidden behind the seq `after`. What is hidden stays as it is; other names are left out. */
export function hide(
  parameters: ConversationRow['parameters'],
  names: readonly string[],
  after: number,
): ConversationRow['parameters'] {
  const wanted = new Set(names)
  const all = Object.entries(parameters)
  return Object.fromEntries(
    all.map(([name, one]) => [name, one[1] || !wanted.has(name) ? one : ([one[0], true, after] as const)]),
  )
}
