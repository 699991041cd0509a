/** Runs and tasks as readers see them: their jobs, and the data stored with these. */
import { frozen } from '../identity/frozen.ts'
import type { RunLine, RunResult, Task, Usage } from '@witan/protocol'
import { emptyCounters } from '@witan/protocol/entries'
import type { TaskAbout } from '../job/task.ts'
import type { JobRow, LastRun } from '../store/store.ts'

/** The data of a run's job. */
interface RunAbout {
  readonly hidden: boolean
  readonly originRunId: string | null
  readonly caller?: NonNullable<RunLine['caller']>
}

const iso = (at: number): string => new Date(at).toISOString()
const isoOrNull = (at: number | null): string | null => (at === null ? null : iso(at))

/** The status of a run. A run's job has an owner from its creation, so it is never queued. */
export function runStatus({ status }: Pick<JobRow, 'status'>): RunLine['status'] {
  return status === 'queued' ? 'running' : status
}

/** One line of a conversation's runs. */
export function runLine(job: LastRun): RunLine {
  const { hidden, originRunId, caller } = job.about as RunAbout
  const { id, createdAt, endedAt } = job
  return {
    runId: id,
    status: runStatus(job),
    hidden,
    originRunId,
    startedAt: iso(createdAt),
    endedAt: isoOrNull(endedAt),
    ...(caller === undefined ? {} : { caller }),
  }
}

/** A task in the state of its job. It has a result once it has ended. */
export function taskOf(job: JobRow): Task {
  const { agent, agentPath, toolCallId } = job.about as TaskAbout
  const result = frozen(job.result as RunResult | null)
  const over = job.endedAt !== null
  return {
    taskId: job.id,
    toolCallId,
    callId: job.id,
    conversationId: job.conversation,
    agent,
    path: agentPath.split('/').slice(1).join('/'),
    status: job.status,
    text: over ? (result?.text ?? '') : '',
    output: over ? (result?.output ?? null) : null,
    error: over ? (result?.error ?? null) : null,
    usage: result?.usage ?? noUsage(),
    createdAt: iso(job.createdAt),
    startedAt: isoOrNull(job.startedAt),
    endedAt: isoOrNull(job.endedAt),
  }
}

function noUsage(): Usage {
  return { ...emptyCounters(), byAgent: {} }
}
