/** Admits the tool calls of a reply: each one's start, child or question is logged in the same append as the reply. */
import type { CheckedTool } from '../conversation/checked.ts'
import { type ErrorCode, isWitanError, toProblem } from '@witan/protocol'
import type {
  CallPlace,
  ErrorBody,
  ExchangeEnds,
  ExchangeStanding,
  ToolEndBody,
  ToolStartBody,
  Writable,
} from '@witan/protocol/entries'
import type { AgentCall, ToolCall } from '../conversation/state.ts'
import { faultPoint } from '../identity/fault-point.ts'
import { countWork, isWorkSpent } from '../identity/turn.ts'
import { type PreparedArguments, prepareArguments } from '../tool/arguments.ts'
import type { ModelSpending, Outcome, ResultOutcome } from '../tool/outcome.ts'
import type { GateResult, Tool } from '../tool/tool.ts'
import type { InterruptionDraft } from '../tool/waiting.ts'
import { toolsOf } from './caller.ts'
import { gatedCall, hold, interrupt, passGate } from './interrupt.ts'
import { spawn } from './spawn.ts'
import { grantOf } from '../job/task.ts'
import { type CallTools, failRun, type Job, record, whereOf } from '../job/job.ts'

/**
 * Prepares the calls of the last reply, one after the other, since their checks may take long. False once this turn of the event loop
 * has given its share: the others wait for a later one, and then all calls are admitted together.
 */
export function prepareCalls(call: AgentCall, job: Job): boolean {
  const { toolset } = toolsOf(call, job)
  for (const toolCall of call.toolCalls) {
    if (toolCall.state !== 'requested' || job.cache.prepared.get(toolCall) !== undefined) continue
    const tool = toolset.get(toolCall.name)
    if (tool === undefined) continue
    if (isWorkSpent()) return false
    const prepared = preparedOf(toolCall, tool, job)
    if (prepared.ok && toolCall.passed === null) questionOf({ toolCall, tool, prepared }, job)
  }
  return true
}

/** Admits every tool call of the last reply of `call`. */
export function admit(call: AgentCall, job: Job): void {
  const tools = toolsOf(call, job)
  for (const toolCall of [...call.toolCalls]) {
    if (toolCall.state !== 'requested') continue
    const tool = tools.toolset.get(toolCall.name)
    if (tool === undefined || (tool.initialOnly === true && !isInitial(call)))
      refuse(toolCall, job, unknownTool(toolCall.name, tools))
    else admitOne({ toolCall, tool, tools }, job)
    if (job.lifecycle.failure !== null) return
  }
  faultPoint('admitted')
}

/** Whether the model has not replied yet: then its tool calls are the initial queries [Rb40]. */
function isInitial({ iterations }: AgentCall): boolean {
  return iterations === 0
}

interface Admission {
  readonly toolCall: ToolCall
  readonly tool: Tool
  readonly tools: CallTools
}

/** The prepared arguments of a tool call, cached. After a restart they are prepared again from the same text. */
export function preparedOf(toolCall: ToolCall, tool: Tool, job: Job): PreparedArguments {
  const known = job.cache.prepared.get(toolCall)
  if (known !== undefined) return known
  const written = toolCall.checked?.arguments ?? toolCall.requested.arguments
  countWork(written.length)
  const made = prepareArguments(tool, written)
  job.cache.prepared.set(toolCall, made)
  return made
}

/** What the gate of a tool asks before a call, cached; null: nothing. */
function questionOf(
  { toolCall, tool, prepared }: { toolCall: ToolCall; tool: Tool; prepared: PreparedArguments & { readonly ok: true } },
  job: Job,
): InterruptionDraft | null {
  if (tool.gate === undefined) return null
  const known = job.cache.asked.get(toolCall)
  if (known !== undefined) return known
  const asked = tool.gate.ask(gatedCall(tool, prepared))
  job.cache.asked.set(toolCall, asked)
  return asked
}

/** The arguments that a call runs with, as its gate passed them, or why it does not run. */
export function passedArguments(toolCall: ToolCall, tool: Tool, job: Job): GateResult & { readonly raw?: unknown } {
  const prepared = preparedOf(toolCall, tool, job)
  if (prepared.ok) return passGate(toolCall, tool, prepared)
  return { ok: false, code: tool.misuse ?? 'TOOL_ARGS_INVALID', detail: prepared.detail }
}

const unchecked: CheckedTool = {}

function admitOne({ toolCall, tool, tools }: Admission, job: Job): void {
  const prepared = preparedOf(toolCall, tool, job)
  if (toolCall.passed === null)
    for (const notice of prepared.notices)
      record(job, toolCall.owner.place, { type: 'notice', kind: null, body: notice })
  const { refused } = toolCall.checked ?? unchecked
  if (refused !== undefined)
    return refuse(toolCall, job, { code: 'HOOK_REFUSED', detail: refused, exchange: tool.exchange })
  const asked = prepared.ok && toolCall.passed === null ? questionOf({ toolCall, tool, prepared }, job) : null
  if (asked !== null) return hold(toolCall, asked, job)
  const passed = passedArguments(toolCall, tool, job)
  if (!passed.ok) return refuse(toolCall, job, prepared.ok ? passed : { ...passed, exchange: tool.exchange })
  const callId = toolCall.passed?.asked.callId ?? job.env.ids.call()
  const start = { callId, arguments: passed.raw, bound: tool.uses ?? tool.bound, exchange: tool.exchange }
  if (!tool.immediate) return recordStart(toolCall, job, start)
  if (tool.isLast === true) return recordStart(toolCall, job, { ...start, isLast: true })
  const request = { callId, toolCallId: toolCall.requested.id, arguments: passed.arguments }
  try {
    carryOut(toolCall, job, { outcome: tool.invoke(request, tools.caller), start })
  } catch (error) {
    if (!isWitanError(error)) job.env.report(error, whereOf(job, callId))
    failRun(job, toProblem(error))
  }
}

/** The body of a tool call's start: `arguments` as the model wrote them. */
interface ToolStart {
  readonly callId: string
  readonly arguments: unknown
  readonly bound: readonly string[]
  readonly isLast?: true
  readonly exchange?: (ExchangeEnds & ExchangeStanding) | undefined
}

/** Records the outcome of an immediate tool. A child's own start replaces the start of the tool call. */
function carryOut(
  toolCall: ToolCall,
  job: Job,
  { outcome, start }: { readonly outcome: Outcome; readonly start: ToolStart },
) {
  if (outcome.kind === 'transfer') throw new Error(`tool ${toolCall.name} hands over, but does not run last`)
  if (outcome.kind === 'pending' && 'child' in outcome) {
    const { child, background, share } = outcome
    const terms = background ?? share
    const grant = terms === undefined ? null : grantOf(job)
    const isTask = background !== undefined
    if (terms === undefined || grant !== null)
      return spawn({ toolCall, child, callId: start.callId, grant, isTask }, job)
    return carryOut(toolCall, job, { outcome: terms.noBudget, start })
  }
  recordStart(toolCall, job, start)
  if (outcome.kind === 'result') recordOutcome(toolCall, job, outcome)
  else for (const one of outcome.interruptions) interrupt(toolCall, one, job)
}

function unknownTool(name: string, { toolset }: CallTools): { code: 'TOOL_UNKNOWN'; detail: string } {
  const offered = [...toolset.values()].flatMap((tool) => (tool.offer === null ? [] : [tool.name]))
  const list = offered.length === 0 ? 'There are no tools.' : `Available: ${offered.join(', ')}.`
  return { code: 'TOOL_UNKNOWN', detail: `unknown tool ${name.slice(0, 64)}; nothing was run. ${list}` }
}

interface Refusal extends Pick<ToolStart, 'exchange'> {
  readonly code: ErrorCode
  readonly detail: string
}

/** Records a call that does not run: its start and its error. The model reads the error and the run continues. */
function refuse(toolCall: ToolCall, job: Job, { exchange, code, detail }: Refusal): void {
  const callId = toolCall.passed?.asked.callId ?? job.env.ids.call()
  recordStart(toolCall, job, { callId, arguments: toolCall.requested.arguments, bound: [], exchange })
  record(job, toolCall.place as CallPlace, { type: 'error', kind: 'tool', body: { code, detail } })
}

function recordStart(
  toolCall: ToolCall,
  job: Job,
  { callId, arguments: written, bound, exchange, isLast }: ToolStart,
): void {
  const { place } = toolCall.owner
  const own: CallPlace = { ...place, call: callId, parentCall: place.call }
  const body: Writable<ToolStartBody> = {
    name: toolCall.name,
    toolCallId: toolCall.requested.id,
    arguments: written,
    bound,
  }
  // Set one by one, as in a reply.
  if (exchange !== undefined) body.exchange = exchange
  if (isLast === true) body.isLast = true
  record(job, own, { type: 'start', kind: 'tool', body })
}

/** Records the outcome of a tool. The error text is free of hidden values, whatever the tool threw [D15]. */
export function recordOutcome(toolCall: ToolCall, job: Job, given: ResultOutcome): void {
  const { result: decided } = toolCall.checked ?? unchecked
  const outcome = decided === undefined ? given : decidedOutcome(given, decided)
  const place = toolCall.place as CallPlace
  for (const spent of outcome.spent ?? []) recordSpent(toolCall, job, spent)
  for (const body of outcome.notices ?? []) record(job, toolCall.owner.place, { type: 'notice', kind: null, body })
  const ends = toolCall.owner.endedToolMode ? undefined : outcome.endsToolMode
  if (ends !== undefined) record(job, toolCall.owner.place, { type: 'notice', kind: null, body: ends })
  for (const content of outcome.entries ?? []) record(job, place, content)
  if (outcome.failure === null)
    record(job, place, { type: 'end', kind: 'tool', body: endOf(outcome, ends !== undefined) })
  else {
    const { code, detail } = outcome.failure
    const { scrub } = toolCall.owner
    const { usedBound: bound, embedded } = outcome
    const body: Writable<ErrorBody> = { code, detail: scrub === null ? detail : scrub(detail) }
    if (bound !== undefined) body.bound = bound
    if (embedded !== undefined) body.embedded = embedded
    record(job, place, { type: 'error', kind: 'tool', body })
  }
}

/** What hooks have made of an outcome. */
function decidedOutcome(
  { forModel: _, ...given }: ResultOutcome,
  { refused, ...decided }: NonNullable<CheckedTool['result']>,
): ResultOutcome {
  if (refused !== undefined) return { ...given, value: null, failure: { code: 'HOOK_REFUSED', detail: refused } }
  return 'written' in decided ? { ...given, value: decided.written, failure: null, truncated: false } : given
}

function endOf(
  { value, forModel, truncated, usedBound, sources, embedded, handsTo, exitsLoop }: ResultOutcome,
  endsToolMode: boolean,
): ToolEndBody {
  const body: Writable<ToolEndBody> = { result: value ?? null, truncated }
  if (forModel !== undefined) body.forModel = forModel
  if (usedBound !== undefined) body.bound = usedBound
  if (endsToolMode) body.endsToolMode = true
  if (sources !== undefined) body.sources = sources
  if (embedded !== undefined) body.embedded = embedded
  if (handsTo !== undefined) body.handsTo = handsTo
  if (exitsLoop === true) body.exitsLoop = true
  return body
}

function recordSpent(toolCall: ToolCall, job: Job, spent: ModelSpending): void {
  const nothing = { text: '', toolCalls: [], taken: 0, attempt: 0, offered: false, accepted: true }
  record(job, toolCall.owner.place, { type: 'end', kind: 'model', body: { ...spent, ...nothing, purpose: 'progress' } })
}
