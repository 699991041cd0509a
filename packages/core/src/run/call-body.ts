/** What the body of a call of an agent on another server knows of that call, and how it shows its answer while it comes. */
import type { AgentCall, ToolCall } from '../conversation/state.ts'
import type { CallBody, CallShare } from '../tool/tool.ts'
import { type Job, workedMs } from '../job/job.ts'
import { isHeldBack } from './model-hooks.ts'
import { firstAttempt } from './prepare-model-call.ts'

/** The last attempt of each call: a later one takes the place of what readers were shown. */
const attempts = new WeakMap<AgentCall, number>()

/** The call whose body this tool call is. */
export function bodyOf({ owner, note }: ToolCall, job: Job): Omit<CallBody, 'saveSpent'> {
  const { place, document } = owner
  const { hub, clock } = job.env
  const { channel } = job.log.state
  const begin = () => attempts.set(owner, 1 + (attempts.get(owner) ?? firstAttempt(job) - 1))
  begin()
  const { final, earlierAnswers } = owner
  return {
    run: place.run,
    before: note === undefined ? document.remoteNote : undefined,
    answered: final === null ? 0 : earlierAnswers.length + 1,
    share: shareOf(owner, job),
    words: () => document.inbox.map(({ text }) => text),
    onWords: (then) => job.waker.watch(then),
    show(text, restart) {
      if (restart) begin()
      // What hooks may refuse or rewrite is shown to nobody before.
      if (!isHeldBack(owner, job))
        hub.delta(channel, { place, text, attempt: attempts.get(owner) ?? 0, at: clock.now() })
    },
  }
}

/** What a call may spend of its tree's budget: what is held for it, or the grant of its task. Of the time that is left, half. */
function shareOf({ share, place }: AgentCall, job: Job): CallShare | null {
  const { grant, root, tree } = job.run
  const own = share ?? (root.place.call === place.call ? grant : null)
  if (own === null) return null
  const { modelCalls, tokens, costUsd } = own
  const { maxSeconds } = tree.limits
  const left = maxSeconds === null ? null : Math.max(0, maxSeconds - workedMs(job) / 1000)
  return { modelCalls, tokens, costUsd, seconds: left === null ? null : Math.floor(left / 2) }
}
