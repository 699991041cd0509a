/** Coming to rest: a child that answers its parent, a job that parks, a run that ends, fails or is cancelled. */
import { type ErrorCode, type Problem, problem, type RunResult, type TaskStatus } from '@witan/protocol'
import type { AgentEndBody, CallPlace, Entry, EntryContent, ErrorBody } from '@witan/protocol/entries'
import { type AgentCall, isTop, type Slot } from '../conversation/state.ts'
import { endedTask } from '../conversation/task.ts'
import { readOutput } from '../model/output.ts'
import { failRun, type Job, record, recordRows } from '../job/job.ts'
import type { JobChange } from '../store/store.ts'
import { resultOf, usageOf } from '../job/result.ts'
import { followUp, tellEnd } from '../job/tell.ts'
import type { Last } from '../job/writer.ts'

/** Records the answer of a child call: its text, or its structured output. */
export function endChild(call: AgentCall, job: Job): void {
  record(job, call.place, endOf(call, job))
}

function endOf(call: AgentCall, job: Job): EntryContent {
  const text = call.final?.text ?? ''
  const output = call.final === null ? null : readOutput(call.agent, text)
  const finishReason = finishReasonOf(call)
  return {
    type: 'end',
    kind: 'agent',
    body: {
      text,
      output,
      finishReason,
      usage: usageOf(call.usage),
      backgroundTasks: tasksOf(call, job),
      ...lostOf(call, job),
    },
  }
}

/** The ids of the tasks that were started in this run, on its top call's end [F23]; on another's, those that it started itself. */
function tasksOf(call: AgentCall, job: Job): readonly string[] {
  if (job.run.tasks.length === 0) return []
  const own = isTop(call) ? job.run.tasks : job.run.tasks.filter(({ place }) => place.parentCall === call.place.call)
  return own.map(({ place }) => place.call)
}

/** What a job's own end tells beside its usage. */
function lostOf(call: AgentCall, { memo: { lost } }: Job): { readonly lost?: number } {
  return isTop(call) && lost > 0 ? { lost } : {}
}

function finishReasonOf(call: AgentCall): RunResult['finishReason'] {
  const reason = call.final?.finishReason ?? 'stop'
  return reason === 'length' || reason === 'content_filter' || reason === 'iteration_limit' ? reason : 'stop'
}

/** A call fails: the calling model of a child reads why and goes on; the failure of a root is the run's. */
export function failCall(
  call: AgentCall,
  job: Job,
  why: { readonly code: ErrorCode; readonly detail: string; readonly hint: string },
): void {
  const detail = call.scrub === null ? why.detail : call.scrub(why.detail)
  if (isTop(call)) return failRun(job, problem(why.code, detail, { hint: why.hint }))
  record(job, call.place, {
    type: 'error',
    kind: 'agent',
    body: { code: why.code, detail, usage: usageOf(call.usage) },
  })
}

/** Parks a job that only others can move: nothing of it stays in memory. Null where something came meanwhile. */
export async function park(job: Job): Promise<RunResult | null> {
  const { root, grant } = job.run
  const result = resultOf(job, { status: 'waiting', text: '', output: null, finishReason: 'waiting', error: null })
  const entries = grant === null ? [] : [taskEntry(job, 'waiting')]
  return rest(job, { entries, jobs: [restOf(job, root, result)] }, result)
}

/** Ends the job: well, failed, or cancelled. Null where a message came meanwhile that it must still read. */
export async function finish(job: Job): Promise<RunResult | null> {
  const { run } = job
  const { root } = run
  if (run.failure !== null || run.cancelled) {
    // An answer that is on its way is folded first: an interruption is closed only where nobody else has settled it.
    for (let busy = job.log.quiet(); busy !== null; busy = job.log.quiet()) await busy
    closeAll(job)
  }
  const status = run.cancelled ? 'cancelled' : run.failure === null ? 'completed' : 'failed'
  const last =
    status === 'failed'
      ? failureOf(job, run.failure as Problem)
      : status === 'cancelled'
        ? cancelledOf(job)
        : endOf(root, job)
  const told =
    last.type === 'end' && last.kind === 'agent'
      ? last.body
      : { text: '', output: null, finishReason: 'error' as const }
  const result = resultOf(job, {
    status,
    text: told.text,
    output: told.output,
    finishReason: told.finishReason,
    error: status === 'failed' ? run.failure : null,
  })
  const entry = job.writer.outbox.make(job.env.clock.now(), root.place, last)
  const change = restOf(job, root, result)
  if (run.grant !== null) return finishTask(job, { entry, change, result })
  const telling = followUp(job, [...job.log.state.untold.values()])
  return rest(job, { entries: [entry, ...telling.entries], jobs: [change, ...telling.jobs] }, result)
}

interface Ending {
  readonly entry: Entry
  readonly change: JobChange
  readonly result: RunResult
}

/** The end of a task is told in the same step, and to whom depends on who is there: the fold must be that of the log. */
async function finishTask(job: Job, { entry, change, result }: Ending): Promise<RunResult | null> {
  const { run } = job
  const body = entry.body as AgentEndBody | ErrorBody
  await job.writer.commit()
  const telling = tellEnd(job, run.cancelled ? null : endedTask(run, body))
  const entries = [entry, taskEntry(job, result.status as TaskStatus), ...telling.entries]
  return rest(job, { entries, jobs: [change, ...telling.jobs], ifLastSeq: job.log.state.seq }, result)
}

/** Null where the job must look again: something came, or what the step supposed is no longer so. */
async function rest(job: Job, last: Last, result: RunResult): Promise<RunResult | null> {
  const stored = await job.writer.propose(last)
  if (stored.ok) return result
  await job.log.catchUp()
  return null
}

function restOf(job: Job, root: AgentCall, result: RunResult): JobChange {
  return { kind: 'rest', id: root.place.call, status: result.status, result, at: job.env.clock.now() }
}

function taskEntry(job: Job, status: TaskStatus): Entry {
  const { place } = job.run.root
  const content = { type: 'task', kind: null, body: { taskId: place.call, status } } as const
  return job.writer.outbox.make(job.env.clock.now(), place, content)
}

function failureOf(job: Job, failure: Problem): EntryContent {
  const { root } = job.run
  return {
    type: 'error',
    kind: 'agent',
    body: { code: failure.code, detail: failure.detail, usage: usageOf(root.usage), ...lostOf(root, job) },
  }
}

function cancelledOf(job: Job, call: AgentCall = job.run.root): EntryContent {
  const backgroundTasks = tasksOf(call, job)
  const usage = usageOf(call.usage)
  return {
    type: 'end',
    kind: 'agent',
    body: { text: '', output: null, finishReason: 'cancelled', usage, backgroundTasks, ...lostOf(call, job) },
  }
}

/** Closes everything below the root, children before parents, last started first, so that every start has its end [I6]. */
function closeAll(job: Job): void {
  const { run } = job
  const detail = run.cancelled ? 'The run was cancelled.' : 'The run failed.'
  for (const call of [...run.calls.values()].reverse()) {
    for (const slot of call.slots) closeSlot(slot, job, detail)
    if (isTop(call)) continue
    if (run.cancelled) record(job, call.place, cancelledOf(job, call))
    else
      record(job, call.place, {
        type: 'error',
        kind: 'agent',
        body: { code: 'RUN_CANCELLED', detail, usage: usageOf(call.usage) },
      })
  }
}

function closeSlot(slot: Slot, job: Job, detail: string): void {
  if (slot.state === 'settled' || slot.state === 'child' || slot.place === null) return
  const place = slot.place
  const isHeld = slot.interruption?.held !== undefined
  if (slot.interruption !== null) closeInterruption(slot, job)
  // What was held has not started, so nothing of it ends.
  if (isHeld) return
  record(job, place, { type: 'error', kind: 'tool', body: { code: 'RUN_CANCELLED', detail } })
}

function closeInterruption(slot: Slot, job: Job): void {
  const { id } = slot.interruption as { id: string }
  record(job, slot.place as CallPlace, {
    type: 'resolved',
    kind: null,
    body: { id, state: 'cancelled', by: null, answer: null },
  })
  recordRows(job, { settle: { id, state: 'cancelled', answer: null, by: null, at: job.env.clock.now() } })
}
