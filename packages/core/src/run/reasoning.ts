/** What a model reasons, for people: scrubbed, as deltas while it comes and as the text that its reply is stored with. */
import type { AgentCall } from '../conversation/state.ts'
import type { Delta } from '../event/live.ts'
import type { ModelReply, ReasoningPart } from '../model/model.ts'
import { cutMark } from '../parameter/scrub.ts'
import { isCheckedReply } from '../conversation/guards.ts'
import type { Job } from '../job/job.ts'

/** The longest reasoning of one reply that is shown, in characters. */
const longest = 100_000

/** The reasoning of one model call. */
interface Reasoning {
  push(part: ReasoningPart): void
  /** Passes on what was held back, once the reply is whole. */
  end(): void
}

/** Passes the reasoning of a model call to its readers, without the values that are hidden from the agent [D15]. */
export function createReasoning(call: AgentCall, { env, log }: Job, attempt: number): Reasoning {
  const { place, scrub } = call
  let scrubber = scrub === null ? null : scrub.inPieces()
  let left = longest
  const pass = (text: string, whole?: true) => {
    if (text === '' && whole === undefined) return
    const delta: Delta = { place, text, attempt, at: env.clock.now(), reasoning: true }
    env.hub.delta(log.state.channel, whole === undefined ? delta : { ...delta, whole })
  }
  return {
    push({ text, restart }) {
      if (restart !== undefined) {
        if (scrub !== null) scrubber = scrub.inPieces()
        left = longest
        pass('', restart)
      }
      const piece = text.slice(0, left)
      left -= piece.length
      pass(scrubber === null ? piece : scrubber.push(piece))
    },
    end() {
      if (scrubber !== null) pass(scrubber.flush())
    },
  }
}

/** The reasoning as it stands in the log; undefined unless the agent shows it and there is any. */
export function storedReasoning(call: AgentCall, { reasoning }: ModelReply): string | undefined {
  const { agent, scrub } = call
  // No guardrail has seen it.
  if (isCheckedReply(call)) return undefined
  if (agent.showReasoning !== true || typeof reasoning !== 'string' || reasoning === '') return undefined
  const text =
    reasoning.length <= longest ? reasoning : reasoning.slice(0, longest) + cutMark(longest, reasoning.length)
  return (scrub === null ? text : scrub(text)).toWellFormed()
}
