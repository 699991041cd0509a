/** Coming to rest: a child that answers its parent, a job that parks, a run that ends, fails or is cancelled. */
import type { ErrorCode, Problem, RunResult } from '@witan/protocol'
import type { CallPlace, EntryContent } from '@witan/protocol/entries'
import { problem } from '@witan/protocol'
import type { AgentCall, Slot } from '../conversation/state.ts'
import { readOutput } from '../model/output.ts'
import { failRun, type Job, record, recordRows } from './job.ts'
import { resultOf, usageOf } from './result.ts'

/** Records the answer of a child call: its text, or its structured output. */
export function endChild(call: AgentCall, job: Job): void {
  record(job, call.place, endOf(call))
}

function endOf(call: AgentCall): EntryContent {
  const text = call.final?.text ?? ''
  const output = call.final === null ? null : readOutput(call.agent, text)
  const finishReason = finishReasonOf(call)
  return {
    type: 'end',
    kind: 'agent',
    body: { text, output, finishReason, usage: usageOf(call.usage), backgroundTasks: [] },
  }
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
  if (call.parent === null) return failRun(job, problem(why.code, detail, { hint: why.hint }))
  record(job, call.place, {
    type: 'error',
    kind: 'agent',
    body: { code: why.code, detail, usage: usageOf(call.usage) },
  })
}

/** Parks a job that only others can move: nothing of it stays in memory. Null where something came meanwhile. */
export async function park(job: Job): Promise<RunResult | null> {
  const { root } = job.run
  const result = resultOf(job, { status: 'waiting', text: '', output: null, finishReason: 'waiting', error: null })
  const at = job.env.clock.now()
  const stored = await job.writer.propose([], { kind: 'rest', id: root.place.call, status: 'waiting', result, at })
  return stored.ok ? result : null
}

/** Ends the run: well, failed, or cancelled. Null where a message came meanwhile that the run must still read. */
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
      ? failureOf(root, run.failure as Problem)
      : status === 'cancelled'
        ? cancelledOf(root)
        : endOf(root)
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
  const at = job.env.clock.now()
  const entry = job.writer.outbox.make(at, root.place, last)
  const stored = await job.writer.propose([entry], { kind: 'rest', id: root.place.call, status, result, at })
  return stored.ok ? result : null
}

function failureOf(call: AgentCall, failure: Problem): EntryContent {
  return {
    type: 'error',
    kind: 'agent',
    body: { code: failure.code, detail: failure.detail, usage: usageOf(call.usage) },
  }
}

function cancelledOf(call: AgentCall): EntryContent {
  return {
    type: 'end',
    kind: 'agent',
    body: { text: '', output: null, finishReason: 'cancelled', usage: usageOf(call.usage), backgroundTasks: [] },
  }
}

/** Closes everything below the root, children before parents, last started first, so that every start has its end [I6]. */
function closeAll(job: Job): void {
  const { run } = job
  const detail = run.cancelled ? 'The run was cancelled.' : 'The run failed.'
  for (const call of [...run.calls.values()].reverse()) {
    for (const slot of call.slots) closeSlot(slot, job, detail)
    if (call.parent === null) continue
    if (run.cancelled) record(job, call.place, cancelledOf(call))
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
  if (slot.interruption !== null) closeInterruption(slot, job)
  record(job, slot.place as CallPlace, { type: 'error', kind: 'tool', body: { code: 'RUN_CANCELLED', detail } })
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
