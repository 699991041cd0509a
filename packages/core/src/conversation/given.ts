/** What a conversation was given, and from where on in its log a value is hidden: flags are tightened, never loosened [E19]. */
import type { ParameterValue } from '@witan/protocol'
import type { ModelMessage } from '../model/message.ts'
import type { GivenParameters } from '../parameter/parameter.ts'
import type { Scrubber } from '../parameter/scrub.ts'
import type { ConversationRow } from '../store/store.ts'

/** The values of a conversation with their flags as they stand now; `hiddenAfter` of a value that was hidden later on is the last seq before that. */
export interface Stored {
  readonly given: GivenParameters
  readonly hiddenAfter: ReadonlyMap<string, number>
}

/** What the row of a conversation says. */
export function storedOf(parameters: ConversationRow['parameters']): Stored {
  const all = Object.entries(parameters)
  return {
    given: new Map(all.map(([name, [value, hidden]]) => [name, { value: value as ParameterValue, hidden }])),
    hiddenAfter: new Map(all.flatMap(([name, [, , after]]) => (after === undefined ? [] : [[name, after] as const]))),
  }
}

/** The same values with these names hidden for every run that starts behind `after`. What is hidden already stays as it is. */
export function tightened(stored: Stored, names: readonly string[], after: number): Stored {
  const given = new Map(stored.given)
  const hiddenAfter = new Map(stored.hiddenAfter)
  for (const name of names) {
    const known = given.get(name)
    if (known === undefined || known.hidden) continue
    given.set(name, { ...known, hidden: true })
    hiddenAfter.set(name, after)
  }
  return { given, hiddenAfter }
}

/** What a run binds that starts at `seq`, and whether some of it was shown before: it keeps these flags to its end, as it keeps its revisions. */
export function givenAt({ given, hiddenAfter }: Stored, seq: number): { given: GivenParameters; wasShown: boolean } {
  const later = [...hiddenAfter].filter(([, after]) => after >= seq)
  const wasShown = later.length < hiddenAfter.size
  if (later.length === 0) return { given, wasShown }
  const then = new Map(given)
  for (const [name] of later) then.set(name, { value: given.get(name)?.value ?? null, hidden: false })
  return { given: then, wasShown }
}

/** The row's parameters for a copy of the log that ends at `seq`: what is hidden by now is hidden in all that follows there. */
export function parametersUpTo(parameters: ConversationRow['parameters'], seq: number): ConversationRow['parameters'] {
  const all = Object.entries(parameters)
  return Object.fromEntries(
    all.map(([name, one]) => [name, (one[2] ?? 0) > seq ? ([one[0], one[1], seq] as const) : one]),
  )
}

/** Takes a value that was shown and is hidden by now out of what the model would read again; what a person typed stays [D15]. */
export function scrubHistory(messages: ModelMessage[], scrub: NonNullable<Scrubber>, isRoot: boolean): void {
  for (const [index, message] of messages.entries()) {
    if (message.role === 'user' && isRoot) continue
    const clean = { ...message, content: scrub(message.content) }
    if (clean.role !== 'assistant' || clean.toolCalls === undefined) messages[index] = clean
    else {
      const toolCalls = clean.toolCalls.map((call) => ({ ...call, arguments: scrub(call.arguments) }))
      messages[index] = { ...clean, toolCalls }
    }
  }
}
