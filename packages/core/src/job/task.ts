/** Tasks of a job: their budget grant, their start and their status. */
import type { TaskStatus } from '@witan/protocol'
import { type AgentStartBody, type CallPlace, roundCost, type TaskGrant } from '@witan/protocol/entries'
import { type Circumstances, type Spending, spentBy } from '../budget/budget.ts'
import { nothingSpent } from '../conversation/run.ts'
import { type Job, record, recordRows, workedMs } from './job.ts'

/** The fields of a task that readers see, beside its job. */
export interface TaskAbout {
  readonly agent: string
  readonly agentPath: string
  readonly toolCallId: string
  readonly runId: string
}

/**
 * Half of what the tree may still spend, so that its own next step stays possible. Null if too little is left for both. The tree
 * counts the grant as spent until the task ends [D13].
 */
export function grantOf(job: Job): TaskGrant | null {
  const { limits } = job.run.tree
  const spent = spentBy(job.run, earlier(job))
  const most = Math.min(limits.maxModelCalls, job.env.ceilings.maxModelCalls)
  const calls = half(most - spent.modelCalls - countOpenModelCalls(job))
  const rounds = job.run.grant === null ? job.log.state.maxModelIterationsPerCall : null
  const iterations = rounds ?? limits.maxModelIterationsPerCall
  const grant = {
    modelCalls: calls,
    iterations: iterations === null ? null : half(iterations - spent.iterations),
    tokens: limits.maxTokens === null ? null : half(limits.maxTokens - spent.tokens),
    costUsd: limits.maxCostUsd === null ? null : roundCost(Math.max(0, limits.maxCostUsd - spent.costUsd) / 2),
  }
  const isEmpty = grant.modelCalls < 1 || grant.tokens === 0 || grant.iterations === 0 || grant.costUsd === 0
  return isEmpty ? null : grant
}

/** What was spent before this job: a task has its own grant; a run shares the budget of its message with earlier runs [R17]. */
function earlier({ run }: Job): Readonly<Spending> {
  return run.grant === null ? run.account : nothing
}

const nothing: Readonly<Spending> = nothingSpent()

function half(left: number): number {
  return Math.max(0, Math.floor(left / 2))
}

/** The number of model calls under way. */
function countOpenModelCalls(job: Job): number {
  let count = 0
  for (const { reserved } of job.lifecycle.modelCalls) count += reserved
  for (const id of job.busy.keys()) if (job.run.calls.has(id)) count += 1
  return count
}

function countOpenIterations({ lifecycle }: Job): number {
  let count = 0
  for (const { usesIteration } of lifecycle.modelCalls) if (usesIteration) count += 1
  return count
}

/** What the budget check needs to know, for one of the model calls under way. */
export function circumstances(job: Job, now: number = job.env.clock.now()): Circumstances {
  const { maxModelIterationsPerCall } = job.log.state
  return {
    maxModelCalls: job.env.ceilings.maxModelCalls,
    maxModelIterationsPerCall: job.run.grant === null ? maxModelIterationsPerCall : null,
    earlier: earlier(job),
    workedMs: workedMs(job, now),
    openModelCalls: countOpenModelCalls(job) - 1,
    openIterations: countOpenIterations(job),
  }
}

/** Records the start of a task and creates its job. Both are stored in one append; the task begins afterwards. */
export function recordSpawn(job: Job, place: CallPlace, body: AgentStartBody): void {
  record(job, place, { type: 'start', kind: 'agent', body })
  record(job, place, { type: 'task', kind: null, body: { taskId: place.call, status: 'queued' } })
  const { env } = job
  const about: TaskAbout = {
    agent: place.author,
    agentPath: place.agentPath,
    toolCallId: body.toolCallId ?? '',
    runId: place.run,
  }
  const owner = env.hasCapacity() ? env.owner : null
  const { leaseMs } = env
  const at = env.clock.now()
  recordRows(job, { job: { kind: 'create', id: place.call, job: 'task', owner, leaseMs, at, about } })
}

/** Records a new status of this task. */
export function recordTask(job: Job, status: TaskStatus): void {
  const { place } = job.run.root
  record(job, place, { type: 'task', kind: null, body: { taskId: place.call, status } })
}
