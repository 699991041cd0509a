/** What becomes of a model's reply: it is recorded as it is; one that cannot be used is asked for once more. */
import type { KeptParts, ModelEndBody, Writable } from '@witan/protocol/entries'
import { readJson } from '@witan/protocol/schemas'
import { mismatch } from '../conversation/fold-exchange.ts'
import { type Decision, isRefusal } from '../hook/decision.ts'
import type { AgentCall } from '../conversation/state.ts'
import type { Verdict } from '../hook/ask.ts'
import { mostCallsInReply } from '../budget/ceilings.ts'
import { longestKept, storable } from '../model/kept.ts'
import type { ModelToolCall } from '../model/message.ts'
import type { ModelReply } from '../model/model.ts'
import { type OutputProblem, outputProblem } from '../model/output.ts'
import { holdsToolCall } from '../model/tool-call-text.ts'
import { type Job, record } from '../job/job.ts'
import type { PreparedModelCall } from './prepare-model-call.ts'
import { recordOutputReply } from './output-request.ts'
import { addWords, askAgain } from './invalid-reply.ts'
import { failFor, recordDecisions, refusedWords } from './decision-effects.ts'
import { storedReasoning } from './reasoning.ts'
import { recordCritiqueReply } from './reflect.ts'

/** Records the reply, and what is to be said about it. */
export function recordModelReply(
  modelCall: PreparedModelCall,
  job: Job,
  { reply, verdict }: { readonly reply: ModelReply; readonly verdict?: Verdict<string> },
): void {
  if (verdict !== undefined) recordDecisions(job, modelCall.call.place, verdict.bodies)
  const refusal = verdict?.bodies.findLast(isRefusal)
  if (refusal !== undefined) return recordRefusedReply(modelCall, job, { reply, refusal })
  if (modelCall.purpose === 'output') return recordOutputReply(modelCall, job, reply)
  if (modelCall.purpose === 'critique') return recordCritiqueReply(modelCall, job, reply)
  const { call, model, offered, isToolless, messagesRead, messageIdsRead, startedAt, attempt, folded } = modelCall
  const behind = job.log.state.folded - folded
  const areToolsOff = !isToolless && modelCall.request.toolChoice === 'none'
  const calls = reply.toolCalls.length > 0
  const cut = offered && !areToolsOff ? cutCall(modelCall, reply) : null
  const asks = offered && !areToolsOff && calls && cut === null
  const invalid = asks ? null : (cut ?? missingCall(modelCall, reply.text) ?? answerProblem(modelCall, reply))
  const { maxToolCallsPerReply: most } = job.env.ceilings
  const isExcess = asks && reply.toolCalls.length > most
  if (isExcess) noteExcessCalls(call, job, { asked: reply.toolCalls.length, most })
  const asked = recorded(reply.toolCalls)
  const toolCalls = cut === null ? withOwnIds(asked) : []
  // A call that was given another id is none that its model knows.
  const isWhole = toolCalls === asked && asked.length === reply.toolCalls.length
  const kept = isWhole ? keptOf(reply, call, job) : null
  const reasoning = storedReasoning(call, reply)
  const body: Writable<ModelEndBody> = {
    model: reply.model ?? model.id,
    usage: reply.usage === null ? null : { ...reply.usage },
    finishReason: offered ? reply.finishReason : 'iteration_limit',
    text: reply.text,
    toolCalls,
    taken: messagesRead,
    startedAt: reply.askedAt ?? startedAt,
    attempt,
    // If its calls do not run, the reply counts as one without tools.
    offered: offered && !(areToolsOff && calls),
    accepted: invalid === null,
    digest: modelCall.digest,
  }
  // Set one by one: every reply is kept, and an object that spreads what few replies have takes room for all of it.
  if (isToolless) body.toolless = true
  if (body.model !== model.id) body.asked = model.id
  if (messageIdsRead.length > 0) body.heard = messageIdsRead
  if (behind > 0) body.behind = behind
  if (isExcess) body.admitted = most
  if (kept !== null) body.kept = kept
  if (reasoning !== undefined) body.reasoning = reasoning
  if (modelCall.readUpTo > 0) body.readUpTo = modelCall.readUpTo
  record(job, call.place, { type: 'end', kind: 'model', body })
  if (calls && (!offered || areToolsOff)) refuseLate(call, job, { reply, offered })
  if (!asks && cut === null) noteMissingCall(modelCall, job, reply.text)
  if (invalid !== null) askAgain(call, job, { ...invalid, finishReason: reply.finishReason, isLast: call.failures > 1 })
}

/** Records that there was a reply, and nothing of what it said; it is asked for once more. */
function recordRefusedReply(
  modelCall: PreparedModelCall,
  job: Job,
  { reply, refusal }: { readonly reply: ModelReply; readonly refusal: Decision },
): void {
  const { call, model, offered, isToolless, messagesRead, messageIdsRead, startedAt, attempt, folded, digest } =
    modelCall
  const behind = job.log.state.folded - folded
  const body: Writable<ModelEndBody> = {
    model: reply.model ?? model.id,
    usage: reply.usage === null ? null : { ...reply.usage },
    finishReason: offered ? reply.finishReason : 'iteration_limit',
    ...{ text: '', toolCalls: [], taken: messagesRead },
    startedAt: reply.askedAt ?? startedAt,
    ...{ attempt, offered, accepted: false, refused: true, digest },
  }
  if (isToolless) body.toolless = true
  if (modelCall.purpose === 'output') body.purpose = 'output'
  if (body.model !== model.id) body.asked = model.id
  if (messageIdsRead.length > 0) body.heard = messageIdsRead
  if (behind > 0) body.behind = behind
  if (modelCall.readUpTo > 0) body.readUpTo = modelCall.readUpTo
  record(job, call.place, { type: 'end', kind: 'model', body })
  // A last answer is not asked for twice.
  const isLast = !offered && body.purpose === undefined
  if (isLast || (call.checked?.refusals ?? 0) > 1) return failFor(call, job, refusal)
  addWords(call, job, refusedWords(refusal))
}

/**
 * A reply that was cut inside a tool call, or that its provider stopped: none of its calls is run. Calls that are complete do run, even
 * if the reply ended at its limit right after them. An empty object at the end is one that was only begun, for all that is known.
 */
function cutCall({ call }: PreparedModelCall, { toolCalls, finishReason }: ModelReply): OutputProblem | null {
  if (toolCalls.length === 0 || finishReason === 'stop' || finishReason === 'tool_calls') return null
  const isCut = ({ arguments: written }: ModelToolCall, at: number) => {
    const read = readJson(written)
    if (!read.ok || typeof read.value !== 'object' || read.value === null) return true
    return at === toolCalls.length - 1 && Object.keys(read.value).length === 0
  }
  if (finishReason !== 'content_filter' && !toolCalls.some(isCut)) return null
  const detail = `The model of \`${call.agent.id}\` ended its reply inside a tool call twice.`
  return { detail, message: 'Your reply ended inside a tool call, and nothing of it was run. Make the call again.' }
}

function answerProblem({ call, offered }: PreparedModelCall, { text, finishReason }: ModelReply): OutputProblem | null {
  if (finishReason === 'error' && offered && text.trim() !== '') {
    // Text before a tool call that the provider could not parse is no answer. Gemini sends this.
    const detail = `The model of \`${call.agent.id}\` ended its reply with an error twice.`
    return { detail, message: 'Your reply ended with an error, as from a malformed tool call. Go on from there.' }
  }
  // A last answer is taken as it is, unless it is to take the place of a draft, which fits [E26, F08].
  const mustFit = offered || call.draft !== null
  return outputProblem(call.agent, text, { mustFit, mismatch: (issue) => mismatch(call, issue) })
}

/** A model that must call a tool and did not, whatever its server made of that [C37]. */
function missingCall({ call, request }: PreparedModelCall, text: string): OutputProblem | null {
  if (request.toolChoice !== 'required') return null
  const isWritten = holdsToolCall(text, request.tools)
  const how = isWritten ? ', and wrote a call as text' : ''
  return {
    detail: `The model of \`${call.agent.id}\` called no tool twice, although its tool mode is \`force\`${how}.`,
    message: `You must call one of your tools now${isWritten ? '; do not write the call as text' : ', before you answer'}.`,
  }
}

/** A call that nobody reads as one: its model, or the server before it, does not do tools as it should. */
function noteMissingCall({ call, request, offered }: PreparedModelCall, job: Job, text: string): void {
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
function noteExcessCalls(
  call: AgentCall,
  job: Job,
  { asked, most }: { readonly asked: number; readonly most: number },
): void {
  const detail = `\`${call.agent.id}\` asked for ${asked} tool calls in one reply; the first ${most} run, the others are refused.`
  record(job, call.place, {
    type: 'notice',
    kind: null,
    body: { code: 'TOOL_CALLS_REFUSED', detail, count: asked - most },
  })
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

/** A reply with thousands of calls is cut: each of them would be read again with every later request. */
function recorded(calls: ModelReply['toolCalls']): ModelReply['toolCalls'] {
  const first = calls.length > mostCallsInReply ? calls.slice(0, mostCallsInReply) : calls
  return first.map(({ id, name, arguments: written }) => ({ id, name, arguments: written }))
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

/** A tool called although all tools were off is not run; one error says so [E26, T12]. */
function refuseLate(
  call: AgentCall,
  job: Job,
  { reply, offered }: { readonly reply: ModelReply; readonly offered: boolean },
): void {
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
    body: offered
      ? { code: 'TOOL_UNKNOWN', detail: 'The tool mode is `none`: tools are off, and nothing was run.' }
      : {
          code: 'BUDGET_EXCEEDED',
          detail: 'The iteration limit is reached: tools are off in the last answer, and nothing was run.',
        },
  })
}
