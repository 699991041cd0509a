/** What becomes of a model's reply: it is recorded as it is; one that cannot be used is asked for once more. */
import type { KeptParts } from '@witan/protocol/entries'
import { attributed } from '../conversation/attribution.ts'
import type { AgentCall } from '../conversation/state.ts'
import { longestKept, storable } from '../model/kept.ts'
import type { ModelReply } from '../model/model.ts'
import { type OutputProblem, outputProblem } from '../model/output.ts'
import { holdsToolCall } from '../model/tool-call-text.ts'
import { type Job, record } from '../job/job.ts'
import type { Asking } from './asking.ts'
import { failCall } from './settle.ts'

/** Records the reply, and what is to be said about it. */
export function takeReply(asking: Asking, job: Job, reply: ModelReply): void {
  const { call, model, offered, isToolless, taken, heard, startedAt, attempt } = asking
  const asks = offered && reply.toolCalls.length > 0
  const off = asks ? null : (missingCall(asking, reply.text) ?? outputProblem(call.agent, reply.text, offered))
  const { maxToolCallsPerReply: most } = job.env.ceilings
  const isFlood = asks && reply.toolCalls.length > most
  if (isFlood) recordFlood(call, job, { asked: reply.toolCalls.length, most })
  const toolCalls = withOwnIds(reply.toolCalls)
  // A call that was given another id is none that its model knows.
  const kept = toolCalls === reply.toolCalls ? keptOf(reply, call, job) : null
  record(job, call.place, {
    type: 'end',
    kind: 'model',
    body: {
      model: reply.model ?? model.id,
      usage: reply.usage,
      finishReason: offered ? reply.finishReason : 'iteration_limit',
      text: reply.text,
      toolCalls,
      taken,
      startedAt,
      attempt,
      offered,
      ...(isToolless ? { toolless: true as const } : {}),
      accepted: off === null,
      ...(heard.length === 0 ? {} : { heard }),
      ...(isFlood ? { admitted: most } : {}),
      ...(kept === null ? {} : { kept }),
    },
  })
  if (!offered && reply.toolCalls.length > 0) refuseLate(call, job, reply)
  if (!asks) tellOfCall(asking, job, reply.text)
  if (off !== null) askAgain(call, job, { ...off, finishReason: reply.finishReason })
}

/** A model that must call a tool and did not, whatever its server made of that [C37]. */
function missingCall({ call, request }: Asking, text: string): OutputProblem | null {
  if (request.toolChoice !== 'required') return null
  const isWritten = holdsToolCall(text, request.tools)
  const how = isWritten ? ', and wrote a call as text' : ''
  return {
    detail: `The model of \`${call.agent.id}\` called no tool twice, although its tool mode is \`force\`${how}.`,
    message: `You must call one of your tools now${isWritten ? '; do not write the call as text' : ', before you answer'}.`,
  }
}

/** A call that nobody reads as one: its model, or the server before it, does not do tools as it should. */
function tellOfCall({ call, request, offered }: Asking, job: Job, text: string): void {
  const isForced = request.toolChoice === 'required'
  const isWritten = offered && request.tools.length > 0 && holdsToolCall(text, request.tools)
  if (!isForced && !isWritten) return
  const what = isWritten
    ? 'wrote a tool call as text, which is not run'
    : 'called no tool, although its tool mode is `force`'
  const detail = `The model of \`${call.agent.id}\` ${what}.`
  record(job, call.place, { type: 'notice', kind: null, body: { code: 'TOOL_CALL_MISSING', detail } })
}

/** Thousands of calls would hold up every other run of the process. */
function recordFlood(
  call: AgentCall,
  job: Job,
  { asked, most }: { readonly asked: number; readonly most: number },
): void {
  const detail = `\`${call.agent.id}\` asked for ${asked} tool calls in one reply; the first ${most} run, the others are refused.`
  record(job, call.place, { type: 'notice', kind: null, body: { code: 'TOOL_CALLS_REFUSED', detail } })
}

/** A model whose parts are not stored answers on without them, or its provider says why it cannot. */
function keptOf({ kept }: ModelReply, call: AgentCall, job: Job): KeptParts | null {
  if (kept === undefined) return null
  const stored = storable(kept)
  if (stored !== null) return stored
  const detail = `A reply of the model of \`${call.agent.id}\` has parts that cannot be stored, and it does not get them back. At most ${longestKept} characters of JSON are.`
  record(job, call.place, { type: 'notice', kind: null, body: { code: 'REPLY_PARTS_DROPPED', detail } })
  return null
}

/** Some servers give two calls of one reply the same id; results are matched by it, so each gets its own. */
function withOwnIds(calls: ModelReply['toolCalls']): ModelReply['toolCalls'] {
  if (calls.length < 2) return calls
  const seen = new Set(calls.map(({ id }) => id))
  if (seen.size === calls.length) return calls
  const used = new Set<string>()
  return calls.map((call, index) => {
    const id = used.has(call.id) ? `${call.id}-${index}` : call.id
    used.add(id)
    return { ...call, id }
  })
}

/** A tool called although all tools were off is not run; one error says so [E26]. */
function refuseLate(call: AgentCall, job: Job, reply: ModelReply): void {
  const [first] = reply.toolCalls
  if (first === undefined) return
  const place = { ...call.place, call: job.env.ids.call(), parentCall: call.place.call }
  record(job, place, {
    type: 'start',
    kind: 'tool',
    body: { name: first.name, toolCallId: first.id, arguments: null, bound: [] },
  })
  record(job, place, {
    type: 'error',
    kind: 'tool',
    body: {
      code: 'BUDGET_EXCEEDED',
      detail: 'The iteration limit is reached: tools are off in the last answer, and nothing was run.',
    },
  })
}

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

/** An empty reply or one off its schema is forgiven once [E28]. */
function askAgain(
  call: AgentCall,
  job: Job,
  off: { readonly detail: string; readonly message: string | null; readonly finishReason: ModelReply['finishReason'] },
): void {
  if (off.finishReason === 'content_filter' || off.finishReason === 'length') {
    const { code, detail, hint } = endings[off.finishReason]
    return failCall(call, job, { code, detail: `The model of \`${call.agent.id}\` ${detail}.`, hint })
  }
  if (call.failures > 1)
    return failCall(call, job, {
      code: 'MODEL_REPLY_INVALID',
      detail: off.detail,
      hint: 'Try another model, or make the instructions plainer.',
    })
  if (off.message === null) return
  record(
    job,
    { ...call.place, author: 'witan' },
    {
      type: 'message',
      kind: null,
      body: { author: 'witan', text: attributed('witan', call.agent.id, off.message) },
    },
  )
}
