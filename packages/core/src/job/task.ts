/** Tasks of a job: what one gets to spend, how it starts, and how its state is told. */
import type { TaskStatus } from '@witan/protocol'
import { type AgentStartBody, type CallPlace, roundCost, type TaskGrant } from '@witan/protocol/entries'
import { type Circumstances, type Spending, spentBy } from '../budget/budget.ts'
import { nothingSpent } from '../conversation/run.ts'
import { type Job, record, recordRows, workedMs } from './job.ts'

/** What a task is about, beside its job: what readers of tasks are shown. */
export interface TaskAbout {
  readonly agent: string
  readonly agentPath: string
  readonly toolCallId: string
  readonly runId: string
}

/**
 * Half of what the tree may still spend, so that its own next step is left; null where that is too little for both. The counters
 * of the tree count it as spent until the task ends [D13].
 */
export function grantOf(job: Job): TaskGrant | null {
  const { limits } = job.run.tree
  const spent = spentBy(job.run, earlier(job))
  const most = Math.min(limits.maxModelCalls, job.env.ceilings.maxModelCalls)
  const calls = half(most - spent.modelCalls - thinking(job))
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

/** A task has what it got; a run shares what one message may cost with all that came of it before [R17]. */
function earlier({ run, memo: { lost } }: Job): Spending {
  if (run.grant !== null) return { ...nothingSpent(), modelCalls: lost }
  return { ...run.account, modelCalls: run.account.modelCalls + lost }
}

function half(left: number): number {
  return Math.max(0, Math.floor(left / 2))
}

/** How many model calls are under way. */
function thinking(job: Job): number {
  let count = job.memo.asking
  for (const id of job.busy.keys()) if (job.run.calls.has(id)) count += 1
  return count
}

/** What the budget of a job looks at, for one of the model calls that are under way. */
export function circumstances(job: Job, now: number = job.env.clock.now()): Circumstances {
  const { maxModelIterationsPerCall } = job.log.state
  return {
    maxModelCalls: job.env.ceilings.maxModelCalls,
    maxModelIterationsPerCall: job.run.grant === null ? maxModelIterationsPerCall : null,
    earlier: earlier(job),
    workedMs: workedMs(job, now),
    thinking: thinking(job) - 1,
    offering: job.memo.offering,
  }
}

/** Records the start of a task and the job that will do it: both are stored in one step, and only then it begins. */
export function recordSpawn(job: Job, place: CallPlace, body: AgentStartBody): void {
  record(job, place, { type: 'start', kind: 'agent', body })
  record(job, place, { type: 'task', kind: null, body: { taskId: place.call, status: 'queued' } })
  const { env } = job
  const about: TaskAbout = {
    agent: body.agent,
    agentPath: place.agentPath,
    toolCallId: body.toolCallId ?? '',
    runId: place.run,
  }
  const owner = env.hasRoom() ? env.owner : null
  const { leaseMs } = env
  const at = env.clock.now()
  recordRows(job, { job: { kind: 'create', id: place.call, job: 'task', owner, leaseMs, at, about } })
}

/** Records that this task has come to a status. */
export function recordTask(job: Job, status: TaskStatus): void {
  const { place } = job.run.root
  record(job, place, { type: 'task', kind: null, body: { taskId: place.call, status } })
}
