/** Hides parameters of a stored conversation, the same for every driver [E19]. */
import type { ConversationRow } from './store.ts'

/** The parameters, with these names hidden from the seq `after` on. Hidden parameters and unknown names stay unchanged. */
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
