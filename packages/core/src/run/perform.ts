/** Performs a decision: records entries at once, or starts model calls and tools and waits for a change. */
import { toProblem } from '@witan/protocol'
import { act, resume } from './act.ts'
import { admit, prepareCalls } from './admit.ts'
import { isWorkSpent, nextTurn } from '../identity/turn.ts'
import { endChild } from './settle.ts'
import { type Consultation, idOfConsultation, idOfLook, type Next, type Work } from './decide.ts'
import { consult } from './consult.ts'
import { isAbandoned } from '../job/abort.ts'
import { abortAll, failRun, type Job, whereOf } from '../job/job.ts'
import { advanceWorkflow } from './advance-workflow.ts'
import { criticise } from './criticise.ts'
import { guard } from './guard.ts'
import { listTools } from './list-tools.ts'
import { remember } from './remember.ts'
import { retrieve } from './retrieve.ts'
import { think } from './think.ts'

/**
 * Performs `next`. Resolves when there may be something new to decide; null if there is already. Work that this turn of the event loop
 * has no share left for is decided again in a later one.
 */
export function perform(next: Exclude<Next, { kind: 'wait' | 'finish' }>, job: Job): Promise<void> | null {
  if (next.kind === 'stop') abortAll(job, job.lifecycle.failure ?? 'cancelled')
  const outside: Work[] = []
  if (next.kind === 'work') {
    for (const work of next.work) {
      if (isWorkSpent() || !isReady(work, job)) return nextTurn()
      if (namesUnstored(work)) return job.writer.commit()
      if (!recordWork(work, job)) outside.push(work)
    }
    if (outside.length < next.work.length) return null
  }
  void job.writer.commit()
  for (const work of outside) startWork(work, job)
  return job.waker.wait()
}

/** Whether a piece of work is short by now. */
export function isReady(work: Work, job: Job): boolean {
  const isOfReply = work.kind === 'admit' || (work.kind === 'consult' && work.at === 'beforeTool')
  return !isOfReply || job.lifecycle.failure !== null || prepareCalls(work.call, job)
}

/** Whether a critique is to be recorded of an answer that is not stored yet: its entry names the answer by its seq. */
function namesUnstored(work: Work): boolean {
  return work.kind === 'criticise' && work.call.critic !== null && work.call.final?.reply?.seq === 0
}

/**
 * Does work that only records; returns false for a model call, a search or a tool. Those start only when there is nothing left to record. Once the run
 * must fail, nothing more is begun.
 */
export function recordWork(work: Work, job: Job): boolean {
  if (job.lifecycle.failure !== null) return true
  if (isOutside(work)) return false
  if (work.kind === 'admit') admit(work.call, job)
  else if (work.kind === 'end') endChild(work.call, job)
  else if (work.kind === 'advanceWorkflow') advanceWorkflow(work.call, job)
  else if (work.kind === 'criticise') criticise(work.call, job)
  else if (work.kind === 'guard') guard(work.call, job)
  else if (work.kind === 'consult') startConsultation(work, job)
  else resume(work.toolCall, job)
  return true
}

/** Work that waits for something outside: a model, a search or a tool. */
type Outside = Work & { readonly kind: 'think' | 'list' | 'remember' | 'retrieve' | 'act' }

/** Whether work waits for something outside. */
export function isOutside(work: Work): work is Outside {
  const { kind } = work
  return kind === 'think' || kind === 'list' || kind === 'remember' || kind === 'retrieve' || kind === 'act'
}

/** Asks hooks, which may answer at once; if not, they are waited for as other work is. */
function startConsultation(work: Consultation, job: Job): void {
  let made: AbortController | null = null
  const controllerOf = () => {
    made ??= new AbortController()
    return made
  }
  const asking = consult(work, job, () => controllerOf().signal)
  if (asking === null) return
  const under = { id: idOfConsultation(work), call: work.call.place.call, controller: controllerOf() }
  job.busy.set(under.id, under.controller)
  waitFor(asking, job, under)
}

/** Starts such work. Other work is none to start. */
function startWork(work: Work, job: Job): void {
  if (!isOutside(work)) return
  const call = work.kind === 'act' ? work.id : work.call.place.call
  const id = work.kind === 'act' || work.kind === 'think' ? call : idOfLook(work.call)
  const controller = new AbortController()
  job.busy.set(id, controller)
  waitFor(begin(work, job, controller), job, { id, call, controller })
}

/** Under which id work is under way, and for which call. */
interface Begun {
  readonly id: string
  readonly call: string
  readonly controller: AbortController
}

/** Wakes the loop once work is done. */
function waitFor(done: Promise<void>, job: Job, { id, call, controller }: Begun): void {
  const over = () => {
    if (job.busy.get(id) === controller) job.busy.delete(id)
    job.waker.wake()
  }
  done.then(over, (error: unknown) => {
    if (job.lifecycle.stopped === null && !isAbandoned(controller.signal)) failInside(error, job, call)
    over()
  })
}

function begin(work: Outside, job: Job, controller: AbortController): Promise<void> {
  if (work.kind === 'act') return act(work.toolCall, job, controller)
  if (work.kind === 'list') return listTools(work.call, job, controller)
  if (work.kind === 'remember') return remember(work.call, job, controller)
  return work.kind === 'think' ? think(work.call, job, controller) : retrieve(work.call, job, controller)
}

/** An internal error fails the run. */
function failInside(error: unknown, job: Job, call: string): void {
  job.env.report(error, whereOf(job, call))
  failRun(job, toProblem(error))
}
