/** A reply that cannot be used: it is asked for once more, then the call fails [E28]. */
import { attributed } from '../model/attribution.ts'
import type { AgentCall } from '../conversation/state.ts'
import type { ModelReply } from '../model/model.ts'
import { type Job, record } from '../job/job.ts'
import { failCall } from './settle.ts'

/** Endings that the same question has again: it is not asked twice. */
const endings = {
  content_filter: {
    code: 'MODEL_REFUSED',
    detail: 'refused to answer, or its provider did for it',
    hint: 'Change what is asked, or take another model.',
  },
  length: {
    code: 'MODEL_OUTPUT_LIMIT',
    detail: 'came to the end of what it may write before it gave a usable answer; thoughts count too',
    hint: 'Raise `maxOutputTokens` of the agent, let it think less, or ask for less.',
  },
} as const

/** What is wrong with a reply: `detail` for people, `message` for the model if words of the runtime say it. */
interface InvalidReply {
  readonly detail: string
  readonly message: string | null
  readonly finishReason: ModelReply['finishReason']
  /** True if the model was asked once more already. */
  readonly isLast: boolean
}

/** Records what the model reads before it is asked once more, or fails the call. */
export function askAgain(call: AgentCall, job: Job, invalid: InvalidReply): void {
  if (invalid.finishReason === 'content_filter' || invalid.finishReason === 'length') {
    const { code, detail, hint } = endings[invalid.finishReason]
    return failCall(call, job, { code, detail: `The model of \`${call.agent.id}\` ${detail}.`, hint })
  }
  if (invalid.isLast)
    return failCall(call, job, {
      code: 'MODEL_REPLY_INVALID',
      detail: invalid.detail,
      hint: 'Try another model, or make the instructions plainer.',
    })
  if (invalid.message !== null) addWords(call, job, invalid.message)
}

/** Words of the runtime that the model of a call reads next. */
export function addWords({ place, agent }: AgentCall, job: Job, words: string): void {
  const body = { author: 'witan', text: attributed('witan', agent.id, words) }
  record(job, { ...place, author: 'witan' }, { type: 'message', kind: null, body })
}
