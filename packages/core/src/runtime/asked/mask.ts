/** Takes values out of what readers see of a model call: all that are hidden from its agent now, wherever they stand. */
import { runWithPauses } from '../../identity/pausable.ts'
import type { ConversationValues } from '../../parameter/parameter.ts'
import { scrubbedInOthers, type Scrubber, scrubberOfValues } from '../../parameter/scrub.ts'
import { scrubbedValue } from '../../parameter/scrub-value.ts'
import type { AgentCall } from '../../conversation/state.ts'

/** What is hidden from one agent. `isUsed` says whether anything was replaced since it was set to false. */
export interface Mask {
  isUsed: boolean
  /** Null if nothing is hidden. */
  readonly scrub: Scrubber
  /** What was shown of parts of requests, each of which stands in many of them. */
  readonly shown: WeakMap<object, Masked<unknown>>
}

/** What is shown of something, and whether something in it was replaced. */
interface Masked<Shown> {
  readonly shown: Shown
  readonly isUsed: boolean
}

/** The masks of a conversation, one for each set of values. `now`: its values with the flags that they have now. */
export function masksOf(now: ConversationValues): (call: AgentCall | null) => Mask {
  const made = new Map<string, Mask>()
  const hiddenNow = [...now].flatMap(([name, { value, hidden }]) => (hidden && !name.startsWith('$') ? [value] : []))
  return (call) => {
    const own = call === null ? [] : scrubbedInOthers(call.agent.parameters, call.parameters)
    const values = [...own.map(({ name }) => call?.parameters.get(name)?.box.reveal()), ...hiddenNow]
    const key = JSON.stringify(values)
    const known = made.get(key) ?? { isUsed: false, scrub: scrubberOfValues(values), shown: new WeakMap() }
    made.set(key, known)
    return known
  }
}

/** Texts of fewer characters are searched at once. */
const short = 16_384

/** A text without what is hidden. */
export async function masked(text: string, mask: Mask): Promise<string> {
  const { scrub } = mask
  if (scrub === null) return text
  if (!scrub.isPrepared) await scrub.prepared()
  const clean = text.length < short ? scrub(text) : await runWithPauses(scrub.inPauses(text))
  if (clean !== text) mask.isUsed = true
  return clean
}

/** A value of JSON without what is hidden. */
export function maskedValue<Value>(value: Value, mask: Mask): Value {
  const { scrub } = mask
  if (scrub === null) return value
  return scrubbedValue(value, (text) => {
    const clean = scrub(text)
    if (clean !== text) mask.isUsed = true
    return clean
  }) as Value
}

/** What `show` makes of a part of a request: made once for each part that is the same object. */
export async function maskedOnce<Part extends object, Shown>(
  part: Part,
  mask: Mask,
  show: (part: Part) => Promise<Shown>,
): Promise<Shown> {
  const known = mask.shown.get(part) as Masked<Shown> | undefined
  if (known !== undefined) {
    mask.isUsed ||= known.isUsed
    return known.shown
  }
  const before = mask.isUsed
  mask.isUsed = false
  const shown = await show(part)
  mask.shown.set(part, { shown, isUsed: mask.isUsed })
  mask.isUsed ||= before
  return shown
}
