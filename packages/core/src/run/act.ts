/** Runs a tool whose start is in the log, and turns the answer to a waiting call into its outcome. */
import type { UsageCounters } from '@witan/protocol'
import type { CallPlace, EmbeddingUse } from '@witan/protocol/entries'
import { maxJsonDepth } from '@witan/protocol/schemas'
import { allowModelCall } from '../budget/budget.ts'
import { isBody } from '../conversation/body.ts'
import type { Decision } from '../hook/decision.ts'
import type { ToolCall } from '../conversation/state.ts'
import { hasRead } from '../conversation/view.ts'
import { jsonLength } from '../identity/json-length.ts'
import { runWithoutPause } from '../identity/pausable.ts'
import { plainCopy } from '../identity/plain.ts'
import { countWork, isWorkSpent, nextTurn } from '../identity/turn.ts'
import { faultPoint } from '../identity/fault-point.ts'
import { ModelCallError } from '../model/model.ts'
import { failed, type Outcome, type PendingOutcome, reasonOf, type ResultOutcome } from '../tool/outcome.ts'
import {
  type CallBody,
  type ImmediateTool,
  longestNote,
  type RunningTool,
  type Tool,
  type ToolContext,
} from '../tool/tool.ts'
import { passedArguments, recordOutcome } from './admit.ts'
import { toolsOf } from './caller.ts'
import { askOfResult } from './check-result.ts'
import { recordDecisions } from './decision-effects.ts'
import { handOver, refuseOthers } from './hand-over.ts'
import { bodyOf } from './call-body.ts'
import { interrupt } from './interrupt.ts'
import { failCall } from './settle.ts'
import { spawn } from './spawn.ts'
import { isAbandoned, orAborted, TimeUp } from '../job/abort.ts'
import { callArtifacts } from '../job/call-artifacts.ts'
import { hooksAt } from '../job/check-dues.ts'
import { type OpenModelCall, type Job, record } from '../job/job.ts'
import { cutOff, endModelCall, type NoReply } from '../job/lost-calls.ts'
import { circumstances } from '../job/task.ts'

/** A tool under way. */
export interface ToolRun {
  readonly toolCall: ToolCall
  readonly tool: RunningTool
  readonly job: Job
  readonly controller: AbortController
  readonly arguments: Readonly<Record<string, unknown>>
  /** The model calls that it makes itself, from `reserve` on. */
  modelCall: OpenModelCall | null
}

/** Runs one tool. A tool with an effect waits until its start is durable; after a crash a `once` tool is not run again [D1, E78]. */
export async function act(toolCall: ToolCall, job: Job, controller: AbortController): Promise<void> {
  const run = beginTool(toolCall, job, controller)
  if (run === null) return
  const { effect } = run.tool
  if (effect !== 'none') await job.writer.commit()
  if (job.lifecycle.stopped !== null || job.lifecycle.isEnding || controller.signal.aborted) return
  const done = carryThrough(run)
  if (effect !== 'once') return done
  const { unrepeatable } = job.lifecycle
  unrepeatable.push(done)
  return done.finally(() => unrepeatable.splice(unrepeatable.indexOf(done), 1))
}

/** A tool that can run now. Null if it cannot: then its outcome is recorded. */
export function beginTool(toolCall: ToolCall, job: Job, controller: AbortController): ToolRun | null {
  const tool = toolsOf(toolCall.owner, job).toolset.get(toolCall.name)
  if (tool === undefined || tool.immediate) {
    settleCall(toolCall, job, failed('TOOL_UNKNOWN', `tool ${toolCall.name} is not there any more`))
    return null
  }
  // A call that saved a checkpoint can continue.
  if (tool.effect === 'once' && toolCall.epoch < job.identity.epoch && toolCall.note === undefined) {
    const detail = `\`${tool.name}\` was started before a crash; whether its effect happened is unknown. It was not run again.`
    recordOutcome(toolCall, job, failed('OUTCOME_UNKNOWN', detail))
    return null
  }
  const passed = passedArguments(toolCall, tool, job)
  if (passed.ok) return { toolCall, tool, job, controller, arguments: passed.arguments, modelCall: null }
  settleCall(toolCall, job, failed(passed.code, passed.detail))
  return null
}

/** From here on the model calls that a tool makes itself count as spent. False if the budget refuses them: then its outcome is recorded. */
export function reserve(run: ToolRun): boolean {
  const { toolCall, job } = run
  beginModelCalls(run)
  if (run.modelCall === null) return true
  const allowance = allowModelCall(job.run, toolCall.owner, circumstances(job))
  if (allowance.kind !== 'refused') return true
  endModelCalls(run, null)
  settleCall(toolCall, job, failed('BUDGET_EXCEEDED', `${allowance.detail}.`))
  return false
}

/** Invokes the tool and records its outcome. The result of a `once` tool is stored before anything else begins. */
async function carryThrough(run: ToolRun): Promise<void> {
  const { tool, job } = run
  while (job.log.proposals.pending !== null) await job.log.proposals.pending
  if (!reserve(run)) return
  let outcome: ToolOutcome | null = null
  let bodies: readonly Decision[] = noBodies
  try {
    outcome = await invoke(run)
    if (hasHooks(run, outcome)) {
      const verdict = verdictOf(run, outcome)
      bodies = (verdict instanceof Promise ? await verdict : verdict).bodies
    }
    while (job.log.proposals.pending !== null) await job.log.proposals.pending
  } finally {
    // Just before the outcome is recorded: a decision in between would count neither the call nor what it spent.
    endModelCalls(run, outcome)
  }
  faultPoint('effect-done')
  if (!endTool(run, outcome, bodies) || tool.effect !== 'once') return
  job.writer.settling = job.writer.commit()
  await job.writer.settling
}

/** What comes of a tool. */
type ToolOutcome = ResultOutcome | PendingOutcome

const noBodies: readonly Decision[] = []

/** Whether hooks are to be asked of what came of a tool. */
function hasHooks({ toolCall, job }: ToolRun, outcome: ToolOutcome): outcome is ResultOutcome {
  if (outcome.kind !== 'result' || job.hooks === null || isBody(toolCall)) return false
  return hooksAt(job, 'afterTool', { agent: toolCall.owner.agent, tool: toolCall.name }).length > 0
}

/** What hooks decided of it. */
function verdictOf({ toolCall, tool, job, controller }: ToolRun, outcome: ResultOutcome) {
  const of = { call: toolCall.owner, job, signal: () => controller.signal }
  return askOfResult(of, { toolCall, tool, outcome })
}

/** Records what came of a tool, behind what hooks decided of it. False if nobody waits for it any more. */
export function endTool(
  { toolCall, job, controller }: ToolRun,
  outcome: ToolOutcome,
  bodies: readonly Decision[] = noBodies,
): boolean {
  if (job.lifecycle.stopped !== null || isAbandoned(controller.signal)) return false
  recordDecisions(job, toolCall.place as CallPlace, bodies)
  if (outcome.kind === 'pending') pause(toolCall, outcome, job)
  else settleCall(toolCall, job, outcome)
  return true
}

/** Counts the model calls that a tool makes itself as spent while they are under way [D13]. */
function beginModelCalls(run: ToolRun): void {
  const { toolCall, tool, job } = run
  const { modelCalls = 0 } = tool
  if (modelCalls === 0) return
  // An earlier owner of the job may have asked already.
  const { owner } = toolCall
  run.modelCall = {
    call: owner,
    purpose: 'progress',
    modelId: owner.model,
    folded: null,
    usesIteration: false,
    reserved: modelCalls,
    isAsking: false,
    isLost: toolCall.epoch < job.identity.epoch,
  }
  job.lifecycle.modelCalls.push(run.modelCall)
}

/** Records that a request of a tool had no reply. */
export function endModelCalls({ job, controller, modelCall }: ToolRun, outcome: ToolOutcome | null): void {
  if (modelCall === null) return
  if (outcome !== null && 'spent' in outcome && !controller.signal.aborted) modelCall.isAsking = false
  endModelCall(job, modelCall, modelCall.isAsking ? unansweredBy(outcome, controller.signal) : null)
}

/** Why a request that a tool made has no reply. */
function unansweredBy(outcome: ToolOutcome | null, signal: AbortSignal): NoReply {
  const failure = outcome?.kind === 'result' ? outcome.failure : null
  if (signal.aborted || failure === null) return cutOff
  return { code: 'MODEL_CALL_FAILED', detail: failure.detail }
}

/** Records the outcome of a tool call, or of the call whose body it is. */
function settleCall(toolCall: ToolCall, job: Job, outcome: ResultOutcome): void {
  if (!isBody(toolCall)) return recordOutcome(toolCall, job, outcome)
  const { owner } = toolCall
  const { failure, answered, notices = [] } = outcome
  for (const body of notices) record(job, owner.place, { type: 'notice', kind: null, body })
  if (failure !== null) failCall(owner, job, { ...failure, hint: 'Ask whoever runs that agent, or call another one.' })
  else {
    const body = answered === undefined ? ({ met: true } as const) : { answered }
    record(job, owner.place, { type: 'checkpoint', kind: null, body })
  }
}

/** Records what the tool waits for. Nothing of the call stays in memory. */
function pause(toolCall: ToolCall, outcome: PendingOutcome, job: Job): void {
  if ('interruptions' in outcome) for (const one of outcome.interruptions) interrupt(toolCall, one, job)
  else spawn({ toolCall, child: outcome.child, callId: job.env.ids.call(), grant: null, isTask: false }, job)
}

/**
 * Continues a call that has waited: for an answer, which an immediate tool turns into the outcome and with which a running tool
 * runs again; or for the other calls of its reply.
 */
export function resume(toolCall: ToolCall, job: Job): void {
  const tool = toolsOf(toolCall.owner, job).toolset.get(toolCall.name)
  if (toolCall.state === 'started') runLast(toolCall, tool, job)
  else if (tool !== undefined && !tool.immediate) {
    record(job, toolCall.place as CallPlace, { type: 'checkpoint', kind: null, body: { resumed: true } })
  } else settleCall(toolCall, job, resumed(toolCall, tool))
  faultPoint('resumed')
}

/** Runs a tool whose turn comes after all other calls of its reply. */
function runLast(toolCall: ToolCall, tool: Tool | undefined, job: Job): void {
  if (tool === undefined || !tool.immediate)
    return recordOutcome(toolCall, job, failed('TOOL_UNKNOWN', `tool ${toolCall.name} is not there any more`))
  const passed = passedArguments(toolCall, tool, job)
  if (!passed.ok) return recordOutcome(toolCall, job, failed(passed.code, passed.detail))
  const request = { callId: toolCall.place?.call ?? '', toolCallId: toolCall.requested.id, arguments: passed.arguments }
  const outcome = tool.invoke(request, toolsOf(toolCall.owner, job).caller)
  if (outcome.kind === 'transfer') return handOver(toolCall, job, outcome)
  const result = outcome.kind === 'result' ? outcome : noResult(toolCall)
  if (result.exitsLoop === true) refuseOthers(toolCall, job)
  recordOutcome(toolCall, job, result)
}

function noResult({ name }: ToolCall): ResultOutcome {
  return failed('TOOL_FAILED', `\`${name}\` gave no result`)
}

/** What an immediate tool makes of the answer to its call. */
export function resumed(toolCall: ToolCall, tool: ImmediateTool | undefined): ResultOutcome {
  const last = toolCall.answers.at(-1)
  if (tool?.resume === undefined || last?.kind !== 'interruption') {
    return failed('TOOL_UNKNOWN', `tool ${toolCall.name} is not there any more`)
  }
  const outcome = tool.resume(last.answer, last.asked, toolCall.answers)
  return outcome.kind === 'result' ? outcome : noResult(toolCall)
}

/** A copy of what a call saves, as it is now. */
function noteOf(note: unknown): unknown {
  const limits = { characters: longestNote, values: 2 * longestNote }
  const { value, isWhole, depth } = runWithoutPause(plainCopy(note, limits))
  const fits = value !== undefined && isWhole && depth <= maxJsonDepth && JSON.stringify(value).length <= longestNote
  if (fits) return value
  throw new RangeError(`A checkpoint is JSON of at most ${longestNote} characters.`)
}

/** Records a checkpoint of a call. */
export function recordCheckpoint(
  toolCall: ToolCall,
  job: Job,
  body: { readonly note: unknown; readonly spent?: UsageCounters | null },
): void {
  record(job, toolCall.place as CallPlace, { type: 'checkpoint', kind: null, body })
}

function noteSaver({ toolCall, job, controller: { signal } }: ToolRun): CallBody['saveSpent'] {
  return async (note, spent) => {
    const kept = noteOf(note)
    while (job.log.proposals.pending !== null) await job.log.proposals.pending
    if (signal.aborted || toolCall.state !== 'started') throw new Error('The call is over: it can leave no checkpoint.')
    recordCheckpoint(toolCall, job, { note: kept, ...(spent === undefined ? {} : { spent }) })
    await job.writer.commit()
  }
}

/** Runs the tool. The outcome lists the bound values that it used beside those of its start, and what embedding models used for it. */
async function invoke(run: ToolRun): Promise<ToolOutcome> {
  const { toolCall, tool, job, controller, modelCall } = run
  const { caller, system } = toolsOf(toolCall.owner, job)
  const { signal } = controller
  const callId = toolCall.place?.call ?? ''
  const request = { callId, toolCallId: toolCall.requested.id, arguments: run.arguments }
  const usedBound: string[] = []
  const embedded: EmbeddingUse[] = []
  const save = noteSaver(run)
  const context: ToolContext = {
    caller,
    signal,
    scrub: toolCall.owner.scrub,
    scrubAll: toolCall.owner.scrubOthers,
    answers: toolCall.answers,
    note: toolCall.note,
    saveNote: (note) => save(note),
    artifacts: callArtifacts({ toolCall, job, signal }),
    hasRead: (id) => hasRead(toolCall.owner, system, id),
    commit: () => job.writer.commit(),
    noteBound(name) {
      if (tool.uses?.includes(name) === false && !usedBound.includes(name)) usedBound.push(name)
    },
    showProgress(progress) {
      const { hub, clock } = job.env
      const { channel } = job.log.state
      if (toolCall.place === null || signal.aborted || !hub.isRead(channel)) return
      hub.delta(channel, { place: toolCall.place, text: '', attempt: 0, at: clock.now(), progress })
    },
    embedded,
    ...(isBody(toolCall) ? { body: { ...bodyOf(toolCall, job), saveSpent: save } } : undefined),
    ...(modelCall === null ? undefined : { state: modelCall }),
  }
  const outcome = await outcomeOf(tool, controller, () => tool.invoke(request, context))
  if (outcome.kind === 'pending' || (usedBound.length === 0 && embedded.length === 0)) return outcome
  return {
    ...outcome,
    ...(usedBound.length === 0 ? {} : { usedBound }),
    ...(embedded.length === 0 ? {} : { embedded: [...embedded] }),
  }
}

/** Aborts the tool when its time is up. A throw becomes a failure that the model reads. A tool that ignores the abort is not waited for. */
async function outcomeOf(
  { name, timeoutMs }: RunningTool,
  controller: AbortController,
  run: () => Outcome | Promise<Outcome>,
): Promise<ToolOutcome> {
  const { signal } = controller
  const timer = setTimeout(() => controller.abort(new TimeUp()), timeoutMs)
  try {
    const running = run()
    const outcome = running instanceof Promise ? await orAborted(running, signal) : running
    // What many tools return or throw at once is recorded, stored and read over as many turns as it takes.
    if (outcome.kind === 'result') countWork(jsonLength(outcome.value) + (outcome.failure?.detail.length ?? 0))
    if (isWorkSpent()) await nextTurn()
    return outcome.kind === 'transfer' ? failed('TOOL_FAILED', `\`${name}\` gave no result`) : outcome
  } catch (error) {
    if (isAbandoned(signal)) return failed('RUN_CANCELLED', `\`${name}\` was stopped.`)
    if (signal.aborted) return failed('TOOL_TIMEOUT', `\`${name}\` took longer than ${timeoutMs} ms and was stopped.`)
    const code = error instanceof ModelCallError ? 'MODEL_CALL_FAILED' : 'TOOL_FAILED'
    const why = reasonOf(error, 'unknown trouble')
    countWork(why.length)
    if (isWorkSpent()) await nextTurn()
    return failed(code, `\`${name}\` failed: ${why}`)
  } finally {
    clearTimeout(timer)
  }
}
