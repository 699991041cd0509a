/** Which values a trace may not show: what its calls bind, and the scrubber for all that is hidden from one of them [D15, C17]. */
import type { ParameterValue } from '@witan/protocol'
import type { Entry } from '@witan/protocol/entries'
import type { AgentLookup } from '../conversation/fold.ts'
import { bind, withGenerated } from '../parameter/bind.ts'
import type { Bound, ConversationValues } from '../parameter/parameter.ts'
import { type Scrubber, scrubbedInOthers, scrubberOfValues } from '../parameter/scrub.ts'

/** The latest scrubbers: most runs of a conversation hide the same values. */
export class TraceScrubbers {
  readonly #made = new Map<string, Scrubber>()

  of(values: readonly ParameterValue[]): Scrubber {
    const key = JSON.stringify(values)
    const known = this.#made.get(key)
    if (known !== undefined) return known
    const made = scrubberOfValues(values)
    this.#made.set(key, made)
    for (const old of this.#made.keys()) if (this.#made.size > mostMade) this.#made.delete(old)
    return made
  }
}

const mostMade = 64

/** What the calls of a trace bind, and what is hidden from one of them. */
interface TraceValues {
  readonly bound: ReadonlyMap<string, Bound>
  readonly hidden: readonly ParameterValue[]
}

/**
 * Reads the starts of a trace's calls, parents first. A value is hidden if the conversation hides it, or if it is secret or hidden for
 * any agent of the trace. No span shows a hidden value, in anybody's words.
 */
export function traceValuesOf(
  starts: readonly Entry[],
  { given, agents }: { readonly given: ConversationValues; readonly agents: AgentLookup },
): TraceValues {
  const bound = new Map<string, Bound>()
  const hidden = new Set<ParameterValue>()
  for (const { value, hidden: isHidden } of given.values()) if (isHidden) hidden.add(value)
  const owners = new Map<string, string>()
  for (const { type, kind, place, body } of starts) {
    if (type !== 'start') continue
    if (kind === 'tool') {
      owners.set(place.call, place.parentCall ?? '')
      continue
    }
    // An agent on another server has no values.
    if (body.remote !== undefined) continue
    const { parameters: declared } = agents(body.agent, body.revision)
    if (declared.length === 0) continue
    const caller = place.parentCall === null ? null : (owners.get(place.parentCall) ?? place.parentCall)
    const parent = caller === null ? null : (bound.get(caller) ?? null)
    const values = withGenerated(bind(declared, { parent, conversationValues: given, map: body.map }), body.generated)
    bound.set(place.call, values)
    for (const { name } of scrubbedInOthers(declared, values)) hidden.add(values.get(name)?.box.reveal() ?? null)
  }
  hidden.delete(null)
  return { bound, hidden: [...hidden] }
}
