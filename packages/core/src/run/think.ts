/** Thinking: one model call of one agent, within its budget, and its reply into the log. */
import { problem, type UsageCounters } from '@witan/protocol'
import { spend } from '../budget/budget.ts'
import { mergeUsage } from '../conversation/usage.ts'
import type { AgentCall } from '../conversation/state.ts'
import { cutOf } from '../conversation/trim.ts'
import { modelView } from '../conversation/view.ts'
import { faultPoint } from '../identity/fault-point.ts'
import { type Model, ModelCallError, type ModelReply, type ModelRequest } from '../model/model.ts'
import { outputProblem } from '../model/output.ts'
import type { Toolset } from '../tool/tool.ts'
import { orAborted } from '../job/abort.ts'
import { toolsOf } from '../job/caller.ts'
import { failRun, type Job, record } from '../job/job.ts'
import { circumstances } from '../job/task.ts'
import { failCall } from './rest.ts'
import { makeRoom } from './trim.ts'

/** A later owner's attempts are always higher, whatever of the earlier ones was stored. */
const attemptsPerEpoch = 4096

/** Calls the model of `call` once and records its reply. What goes wrong is an event of the call, never an exception. */
export async function think(call: AgentCall, job: Job, signal: AbortSignal): Promise<void> {
  // A sibling of that effect may have woken the loop meanwhile.
  if (job.writer.settling !== null) await job.writer.settling
  if (signal.aborted) return
  const cut = cutOf(call, job.run)
  if (cut !== null) await makeRoom(call, job, { cut, signal, mayAsk: affordsTwo(call, job) })
  if (signal.aborted) return
  const startedAt = job.env.clock.now()
  const allowance = spend(job.run, call, circumstances(job, startedAt))
  if (allowance.kind === 'refused')
    return failRun(job, problem('BUDGET_EXCEEDED', `${allowance.detail} ${spenders(job)}.`, { hint: allowance.hint }))
  const model = job.env.model(call.model)
  if (model === null)
    return failCall(call, job, {
      code: 'MODEL_UNKNOWN',
      detail: `Agent \`${call.agent.id}\` wants model \`${call.model}\`, which this runtime does not have.`,
      hint: 'Configure the connection, or change the model of the agent.',
    })
  const { caller, toolset, offers } = toolsOf(call, job)
  if (call.iterations === 0) tellNotices(call, job, toolset)
  const { messages, taken } = modelView(call, caller)
  const heard = call.document.inbox.flatMap(({ id }) => id ?? [])
  const attempt = (job.identity.epoch - 1) * attemptsPerEpoch + call.iterations + 1
  const offered = allowance.kind === 'tools'
  faultPoint('budget-reserved')
  let reply: ModelReply
  if (offered) job.memo.offering += 1
  try {
    const request = requestOf(call, { messages, tools: offers, offered })
    reply = await orAborted(ask(model, request, { call, job, signal, attempt }), signal)
  } catch (error) {
    if (signal.aborted) return giveUp(job)
    return failCall(call, job, {
      code: 'MODEL_CALL_FAILED',
      detail: failureText(error, model),
      hint: 'Look at the connection: its address, its key, and the name of the model.',
    })
  } finally {
    if (offered) job.memo.offering -= 1
  }
  faultPoint('model-reply-received')
  if (signal.aborted) return giveUp(job)
  const off = reply.toolCalls.length > 0 && offered ? null : outputProblem(call.agent, reply.text, offered)
  record(job, call.place, {
    type: 'end',
    kind: 'model',
    body: {
      model: reply.model ?? model.id,
      usage: reply.usage,
      finishReason: offered ? reply.finishReason : 'iteration_limit',
      text: reply.text,
      toolCalls: withOwnIds(reply.toolCalls),
      taken,
      startedAt,
      attempt,
      offered,
      accepted: off === null,
      ...(heard.length === 0 ? {} : { heard }),
    },
  })
  if (!offered && reply.toolCalls.length > 0) refuseLate(call, job, reply)
  if (off !== null) askAgain(call, job, off)
}

/** Its reply is not waited for, but paid for. */
function giveUp({ memo }: Job): void {
  memo.lost += 1
}

/** A summary must leave room for the answer. */
function affordsTwo(call: AgentCall, job: Job): boolean {
  return spend({ ...job.run, modelCalls: job.run.modelCalls + 1 }, call, circumstances(job)).kind === 'tools'
}

/** Who made the model calls, in words. */
function spenders(job: Job): string {
  const sum = new Map<string, UsageCounters>()
  for (const call of job.run.calls.values()) mergeUsage(sum, call.usage)
  const made = [...sum].map(([path, counters]) => `${path} ${counters.modelCalls}`)
  const { failedCalls } = job.run
  return `(${[...made, ...(failedCalls === 0 ? [] : [`failed ${failedCalls}`])].join(', ')})`
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

/** An empty reply or one off its schema is forgiven once [E28]. */
function askAgain(call: AgentCall, job: Job, off: { readonly detail: string; readonly message: string | null }): void {
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
      body: { author: 'witan', text: `[from @witan to @${call.agent.id}] ${off.message}` },
    },
  )
}

function tellNotices(call: AgentCall, job: Job, toolset: Toolset): void {
  for (const { notice, noticeCode: code = 'DELEGATE_UNAVAILABLE' } of toolset.values()) {
    if (notice !== null) record(job, call.place, { type: 'notice', kind: null, body: { code, detail: notice } })
  }
  // Of a delegation its start has told it.
  if (call.parent !== null || call.scrub === null || call.scrub(call.message) === call.message) return
  const detail = `The prompt holds a value that is hidden from \`${call.agent.id}\`; what a person types is read as it is.`
  record(job, call.place, { type: 'notice', kind: null, body: { code: 'HIDDEN_VALUE_IN_TEXT', detail } })
}

function requestOf(
  call: AgentCall,
  { messages, tools, offered }: Pick<ModelRequest, 'messages' | 'tools'> & { readonly offered: boolean },
): ModelRequest {
  const { agent } = call
  const forced = agent.toolMode === 'force' && !call.calledTool
  return {
    messages,
    tools,
    toolChoice: tools.length === 0 || !offered || agent.toolMode === 'none' ? 'none' : forced ? 'required' : 'auto',
    temperature: call.temperature,
    reasoningEffort: agent.reasoningEffort ?? null,
    output: agent.outputSchema === null ? null : { name: agent.id, schema: agent.outputSchema },
  }
}

async function ask(
  model: Model,
  request: ModelRequest,
  at: { readonly call: AgentCall; readonly job: Job; readonly signal: AbortSignal; readonly attempt: number },
): Promise<ModelReply> {
  const { call, job, signal, attempt } = at
  faultPoint('model-request')
  const { channel } = job.log.state
  for await (const part of model.stream(request, { signal, deltas: job.env.hub.isRead(channel) })) {
    if (part.type === 'reply') return part.reply
    job.env.hub.delta(channel, { place: call.place, text: part.text, attempt, at: job.env.clock.now() })
  }
  throw new ModelCallError('the model ended its stream without a reply', { retryable: false })
}

function failureText(error: unknown, model: Model): string {
  const words = error instanceof Error ? error.message : 'unknown trouble'
  return `Model \`${model.id}\` could not be called: ${words}`
}
