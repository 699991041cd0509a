/** The values of a conversation, and from which seq on each is hidden. A value can be hidden later, never shown again [E19]. */
import type { ParameterValue } from '@witan/protocol'
import type { ConversationValues } from '../parameter/parameter.ts'
import type { ConversationRow } from '../store/store.ts'

/** The values of a conversation with their current flags. `hiddenAfter` holds the last seq before a value was hidden later. */
export interface StoredValues {
  readonly conversationValues: ConversationValues
  readonly hiddenAfter: ReadonlyMap<string, number>
}

/** Shared: most conversations have no values. */
const nothing: StoredValues = { conversationValues: new Map(), hiddenAfter: new Map() }

/** The values from the row of a conversation. */
export function storedOf(parameters: ConversationRow['parameters']): StoredValues {
  const all = Object.entries(parameters)
  if (all.length === 0) return nothing
  return {
    conversationValues: new Map(
      all.map(([name, [value, hidden]]) => [name, { value: value as ParameterValue, hidden }]),
    ),
    hiddenAfter: new Map(all.flatMap(([name, [, , after]]) => (after === undefined ? [] : [[name, after] as const]))),
  }
}

/** The same values, with these names hidden for every run that starts after `after`. Hidden values stay unchanged. */
export function withHidden(stored: StoredValues, names: readonly string[], after: number): StoredValues {
  const conversationValues = new Map(stored.conversationValues)
  const hiddenAfter = new Map(stored.hiddenAfter)
  for (const name of names) {
    const known = conversationValues.get(name)
    if (known === undefined || known.hidden) continue
    conversationValues.set(name, { ...known, hidden: true })
    hiddenAfter.set(name, after)
  }
  return { conversationValues, hiddenAfter }
}

/** The values that a run starting at `seq` binds. It keeps these flags to its end, as it keeps its revisions. */
export function valuesAt({ conversationValues, hiddenAfter }: StoredValues, seq: number): ConversationValues {
  if (hiddenAfter.size === 0) return conversationValues
  const later = [...hiddenAfter].filter(([, after]) => after >= seq)
  if (later.length === 0) return conversationValues
  const then = new Map(conversationValues)
  for (const [name] of later) then.set(name, { value: conversationValues.get(name)?.value ?? null, hidden: false })
  return then
}

/** The row's parameters for a copy of the log up to `seq`. Values hidden later are hidden from `seq` on in the copy. */
export function parametersUpTo(parameters: ConversationRow['parameters'], seq: number): ConversationRow['parameters'] {
  const all = Object.entries(parameters)
  return Object.fromEntries(
    all.map(([name, one]) => [name, (one[2] ?? 0) > seq ? ([one[0], one[1], seq] as const) : one]),
  )
}
