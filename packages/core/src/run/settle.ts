/** Ends calls and jobs: a child returns to its parent; a job parks, completes, fails or is cancelled. */
import {
  type ErrorCode,
  type Problem,
  problem,
  type RunResult,
  type TaskStatus,
  type UsageCounters,
} from '@witan/protocol'
import type { AgentEndBody, CallPlace, Entry, EntryContent, ErrorBody } from '@witan/protocol/entries'
import { linkOfRemote, remoteOf } from '../agent/remote-agent.ts'
import { unheardCheck } from '../conversation/guards.ts'
import { entryOfDecision } from '../hook/decision.ts'
import { type AgentCall, answeredCall, callInControl, isTop, type ToolCall } from '../conversation/state.ts'
import { isBody } from '../conversation/body.ts'
import { unfinishedPlan } from '../conversation/plan.ts'
import { sourcesIn } from '../conversation/retrieval.ts'
import { endedTask } from '../conversation/fold-task.ts'
import { mergeUsage } from '../conversation/merge-usage.ts'
import { errorText } from '../parameter/scrub.ts'
import { asksOutput, readOutput } from '../model/output.ts'
import type { StoredResult } from '../task/tracker.ts'
import { failRun, forgetAnswer, type Job, record, recordRows } from '../job/job.ts'
import type { JobChange } from '../store/store.ts'
import { recordReply, replyProblem, unfinishedExchanges } from './peer-message.ts'
import { returnControl } from './hand-over.ts'
import { endTeller } from './tell-end.ts'
import { earlierAnswersOf, resultOf, usageOf } from './result.ts'
import { followUp, reportEnd } from '../job/report.ts'
import type { Proposed } from '../job/writer.ts'

/** Records the end of a call below the root, and of those that it answers for; control that returns goes back. */
export function endChild(call: AgentCall, job: Job): void {
  const ends = endsOf(call, job)
  for (const { at, content } of ends) {
    const detail = replyProblem(at, content)
    if (detail !== null) return failCall(call, job, { code: 'MODEL_REPLY_INVALID', detail, hint: misfitHint })
  }
  for (const { at, content } of ends) {
    recordReply(at, job, content)
    for (const one of toldOf(at)) record(job, at.place, one)
    record(job, at.place, content)
  }
  forgetAnswer(call, job)
  const last = answeredCall(call)
  if (last.handOver !== null) returnControl(last, job, { speaker: call })
}

const misfitHint = 'Make the instructions plainer, or the schema of the reply wider.'

/** The end of one of several calls that end together. */
interface CallEnd {
  readonly at: AgentCall
  readonly content: EntryContent
}

/** The ends of an answered call and of those that handed over to it, in that order: they end with its answer [C33]. */
function endsOf(call: AgentCall, job: Job): CallEnd[] {
  const ends: CallEnd[] = [{ at: call, content: endOf(call, job) }]
  if (call.handOver === null) return ends
  const last = answeredCall(call)
  const usage = new Map<string, UsageCounters>()
  mergeUsage(usage, call.usage)
  for (let at = call; at !== last; ) {
    at = at.parent as AgentCall
    mergeUsage(usage, at.usage)
    ends.push({ at, content: endOf(at, job, usage) })
  }
  return ends
}

/** The end of a call. `usage` is that of its subtree. */
function endOf(call: AgentCall, job: Job, usage: ReadonlyMap<string, UsageCounters> = call.usage): EntryContent {
  const inControl = callInControl(call)
  const [text, output] = [inControl.final?.text ?? '', outputOf(inControl)]
  const sources = sourcesIn(call, { text, output })
  return {
    type: 'end',
    kind: 'agent',
    body: {
      text,
      output,
      finishReason: finishReasonOf(inControl),
      usage: usageOf(usage),
      backgroundTasks: tasksOf(call, job),
      ...(sources.length === 0 ? {} : { sources }),
      ...earlierOf(call),
    },
  }
}

/** The structured answer: of a workflow, from a call of `set_output`, or else from the text. */
export function outputOf({ final, agent }: Pick<AgentCall, 'final' | 'agent'>): unknown {
  if (final === null) return null
  if (final.output !== undefined) return final.output.value
  return asksOutput(agent) ? null : readOutput(agent, final.text)
}

function earlierOf(call: AgentCall): Pick<AgentEndBody, 'earlierAnswers'> {
  const earlierAnswers = earlierAnswersOf(call)
  return earlierAnswers.length === 0 ? {} : { earlierAnswers }
}

/** The task ids for the end of a call: all tasks of the run for its root call [F23], else those that the call itself started. */
function tasksOf(call: AgentCall, job: Job): readonly string[] {
  if (job.run.tasks.length === 0) return []
  const own = isTop(call) ? job.run.tasks : job.run.tasks.filter(({ place }) => place.parentCall === call.place.call)
  return own.map(({ place }) => place.call)
}

function finishReasonOf(call: AgentCall): RunResult['finishReason'] {
  const reason = call.final?.finishReason ?? 'stop'
  return reason === 'length' || reason === 'content_filter' || reason === 'iteration_limit' ? reason : 'stop'
}

/**
 * Fails a call, and those that it would answer for. A child's failure is recorded, and its parent's model reads it; one that
 * handed over and gets control back reads it too. A root's failure fails the run.
 */
export function failCall(
  call: AgentCall,
  job: Job,
  why: { readonly code: ErrorCode; readonly detail: string; readonly hint: string },
): void {
  forgetAnswer(call, job)
  const text = errorText(why.detail)
  const detail = call.scrub === null ? text : call.scrub(text)
  if (call.draft !== null && !endsRevision.has(why.code)) return failRevision(call, job, { ...why, detail })
  const last = answeredCall(call)
  if (isTop(last)) return failRun(job, problem(why.code, detail, { hint: why.hint }))
  for (const { at, content } of endsOf(call, job)) {
    const { usage } = content.body as AgentEndBody
    endTeller(at, job, 'failed')()
    record(job, at.place, { type: 'error', kind: 'agent', body: { code: why.code, detail, usage } })
  }
  if (last.handOver !== null) returnControl(last, job, { speaker: call, failure: { code: why.code, detail } })
}

/** What fails a call although it has a draft. */
const endsRevision: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'REFLECTION_FAILED',
  'HOOK_REFUSED',
  'GUARDRAIL_REFUSED',
])

/** The draft is the answer after all, unless its agent wants such a call to fail [F08]. */
function failRevision(
  call: AgentCall,
  job: Job,
  { detail: why, hint }: Omit<Problem, 'type' | 'title' | 'path'>,
): void {
  const { id, reflection } = call.agent
  const detail = `The revision of the answer of \`${id}\` failed: ${why}`
  if (reflection.onFail === 'error') return failCall(call, job, { code: 'REFLECTION_FAILED', detail, hint: hint ?? '' })
  record(job, call.place, {
    type: 'notice',
    kind: null,
    body: { code: 'REFLECTION_SKIPPED', detail, agent: id, reason: 'revision' },
  })
}

/** Parks a job that waits for others; nothing of it stays in memory. Null if something arrived meanwhile. */
export async function park(job: Job): Promise<StoredResult | null> {
  const { root, grant } = job.run
  const result = resultOf(job, { status: 'waiting', text: '', output: null, finishReason: 'waiting', error: null })
  const entries = grant === null ? [] : [taskEntry(job, 'waiting')]
  return storeStatus(job, { entries, jobs: [statusChange(job, root, result)] }, result)
}

/** Ends the job as completed, failed or cancelled. Null if something arrived meanwhile that it must read first. */
export async function finish(job: Job): Promise<StoredResult | null> {
  const { run } = job
  const { failure } = job.lifecycle
  // The entries that close the calls of a failed run are stored together with its end. Without that end, the log does not show that it failed.
  if (failure !== null || run.cancelled) closeAll(job)
  const { status, last, before } = lastOf(job)
  const result = resultOf(job, { status, ...answerIn(last), error: status === 'failed' ? failure : null })
  const { writer } = job
  const now = job.env.clock.now()
  const ends = before.map(({ at, content }) => writer.entries.make(now, at.place, content))
  const entry = writer.entries.make(now, run.root.place, last)
  const tell = status === 'completed' || status === 'waiting' ? null : endTeller(run.root, job, status)
  const ending = { ends, entry, change: statusChange(job, run.root, result), result }
  const stored = await (run.grant === null ? finishRun(job, ending) : finishTask(job, ending))
  if (stored !== null) tell?.()
  return stored
}

/** The final status of the job, its last entry, and what stands before it: notices, and the ends of the calls that have control of its root. */
interface LastEntries {
  readonly status: RunResult['status']
  readonly last: EntryContent
  readonly before: readonly CallEnd[]
}

function lastOf(job: Job): LastEntries {
  const { failure } = job.lifecycle
  const { run } = job
  const open = unfinishedExchanges(run).map((content) => ({ at: run.root, content }))
  if (run.cancelled) return { status: 'cancelled', last: cancelledOf(job), before: open }
  if (failure !== null) return { status: 'failed', last: failureOf(job, failure), before: open }
  const ends = endsOf(callInControl(run.root), job)
  const before = ends.flatMap((end) => [...toldOf(end.at).map((content) => ({ at: end.at, content })), end])
  const { content } = before.pop() as CallEnd
  return { status: 'completed', last: content, before: [...open, ...before] }
}

/** What people are told of a call that ends with an answer. */
function toldOf(call: AgentCall): EntryContent[] {
  const body = unfinishedPlan(call)
  return body === null ? [] : [{ type: 'notice', kind: null, body }]
}

function answerIn(last: EntryContent): Pick<RunResult, 'text' | 'output' | 'finishReason' | 'sources'> {
  if (last.type !== 'end' || last.kind !== 'agent') return { text: '', output: null, finishReason: 'error' }
  const { text, output, finishReason, sources } = last.body
  return { text, output, finishReason, ...(sources === undefined ? {} : { sources: [...sources] }) }
}

interface Ending {
  readonly ends: readonly Entry[]
  readonly entry: Entry
  readonly change: JobChange
  readonly result: StoredResult
}

/** Ends a run. A follow-up run, created in the same append, reports tasks that have ended unreported. */
function finishRun(job: Job, { ends, entry, change, result }: Ending): Promise<StoredResult | null> {
  const report = followUp(job, [...job.log.state.unreported.values()])
  return storeStatus(job, { entries: [...ends, entry, ...report.entries], jobs: [change, ...report.jobs] }, result)
}

/** Ends a task and reports it in the same append. */
function finishTask(job: Job, { ends, entry, change, result }: Ending): Promise<StoredResult | null> {
  const { run } = job
  const body = entry.body as AgentEndBody | ErrorBody
  const report = reportEnd(job, run.cancelled ? null : endedTask(run, body))
  const entries = [...ends, entry, taskEntry(job, result.status as TaskStatus), ...report.entries]
  return storeStatus(job, { entries, jobs: [change, ...report.jobs], ifAlone: true }, result)
}

/** Stores the last append; null if the store refused it and the job must decide again. */
async function storeStatus(job: Job, last: Proposed, result: StoredResult): Promise<StoredResult | null> {
  const stored = await job.writer.propose(last)
  if (stored.ok) return result
  await job.log.catchUp()
  return null
}

function statusChange(job: Job, root: AgentCall, result: StoredResult): JobChange {
  return { kind: 'rest', id: root.place.call, status: result.status, result, at: job.env.clock.now() }
}

function taskEntry(job: Job, status: TaskStatus): Entry {
  const { place } = job.run.root
  const content = { type: 'task', kind: null, body: { taskId: place.call, status } } as const
  return job.writer.entries.make(job.env.clock.now(), place, content)
}

function failureOf(job: Job, failure: Problem): EntryContent {
  const { root } = job.run
  return {
    type: 'error',
    kind: 'agent',
    body: { code: failure.code, detail: failure.detail, usage: usageOf(root.usage) },
  }
}

function cancelledOf(job: Job, call: AgentCall = job.run.root): EntryContent {
  const backgroundTasks = tasksOf(call, job)
  const usage = usageOf(call.usage)
  return {
    type: 'end',
    kind: 'agent',
    body: { text: '', output: null, finishReason: 'cancelled', usage, backgroundTasks },
  }
}

/** Closes everything below the root, children before parents and last started first. Every start gets its end [I6]. */
function closeAll(job: Job): void {
  const { run } = job
  const detail = run.cancelled ? 'The run was cancelled.' : 'The run failed.'
  for (const call of [...run.calls.values()].reverse()) {
    abandonRemote(call, job)
    for (const toolCall of call.toolCalls) closeToolCall(toolCall, job, detail)
    closeAnswer(call, job)
    if (isTop(call)) continue
    endTeller(call, job, run.cancelled ? 'cancelled' : 'failed')()
    if (run.cancelled) record(job, call.place, cancelledOf(job, call))
    else
      record(job, call.place, {
        type: 'error',
        kind: 'agent',
        body: { code: 'RUN_CANCELLED', detail, usage: usageOf(call.usage) },
      })
  }
}

/** An answer that nobody has checked to the end is none. */
function closeAnswer(call: AgentCall, job: Job): void {
  const left = unheardCheck(call)
  if (left === null) return
  const { name, action } = left.check
  const reason = `guardrail ${name} failed`
  const decision = { name, action, at: 'answered', effect: 'failed', reason, closes: true } as const
  record(job, call.place, entryOfDecision(decision, left.part.of))
}

/** What was begun on another server is to stop there. What it has cost meanwhile is not known. */
function abandonRemote({ agent, place, toolCalls: [body] }: AgentCall, job: Job): void {
  const link = linkOfRemote(agent)
  if (link === null || body?.note === undefined) return
  const { env, log } = job
  env.abandon({ ...link, database: log.state.database, callId: place.call, note: body.note })
  const remote = remoteOf(link.edge)
  const detail = `${remote} was stopped; what it has cost is not known.`
  record(job, place, { type: 'notice', kind: null, body: { code: 'USAGE_INCOMPLETE', detail, remote } })
}

function closeToolCall(toolCall: ToolCall, job: Job, detail: string): void {
  if (toolCall.state === 'settled' || toolCall.state === 'child' || toolCall.place === null) return
  const place = toolCall.place
  const isHeld = toolCall.interruptions.some(({ held }) => held !== undefined)
  for (const { id } of toolCall.interruptions) closeInterruption(toolCall, job, id)
  // A held call has no start, so it gets no end. The body of a call ends with that.
  if (isHeld || isBody(toolCall)) return
  record(job, place, { type: 'error', kind: 'tool', body: { code: 'RUN_CANCELLED', detail } })
}

/** Settles an interruption as cancelled. */
export function closeInterruption(toolCall: ToolCall, job: Job, id: string): void {
  record(job, toolCall.place as CallPlace, {
    type: 'resolved',
    kind: null,
    body: { id, state: 'cancelled', by: null, answer: null },
  })
  recordRows(job, { settle: { id, state: 'cancelled', answer: null, by: null, at: job.env.clock.now() } })
}
