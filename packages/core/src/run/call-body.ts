/** What the body of a call of an agent on another server knows of that call, and how it shows its answer while it comes. */
import type { AgentCall, ToolCall } from '../conversation/state.ts'
import type { CallBody } from '../tool/tool.ts'
import type { Job } from '../job/job.ts'
import { firstAttempt } from './prepare-model-call.ts'

/** The last attempt of each call: a later one takes the place of what readers were shown. */
const attempts = new WeakMap<AgentCall, number>()

/** The call whose body this tool call is. */
export function bodyOf({ owner, note }: ToolCall, job: Job): CallBody {
  const { place, document } = owner
  const { hub, clock } = job.env
  const { channel } = job.log.state
  const begin = () => attempts.set(owner, 1 + (attempts.get(owner) ?? firstAttempt(job) - 1))
  begin()
  return {
    before: note === undefined ? document.remoteNote : undefined,
    words: () => document.inbox.map(({ text }) => text),
    onWords: (then) => job.waker.watch(then),
    show(text, restart) {
      if (restart) begin()
      hub.delta(channel, { place, text, attempt: attempts.get(owner) ?? 0, at: clock.now() })
    },
  }
}
