/** Runs and tasks as readers see them: their jobs, and what was stored with them. */
import type { RunLine, RunResult, Task, Usage } from '@witan/protocol'
import { emptyCounters } from '@witan/protocol/entries'
import type { TaskAbout } from '../job/task.ts'
import type { JobRow } from '../store/store.ts'

/** What a run's job is about. */
interface RunAbout {
  readonly hidden: boolean
  readonly originRunId: string | null
}

const iso = (at: number): string => new Date(at).toISOString()
const isoOrNull = (at: number | null): string | null => (at === null ? null : iso(at))

/** A run's job has an owner when it is made: it is never queued. */
export function runStatus({ status }: JobRow): RunLine['status'] {
  return status === 'queued' ? 'running' : status
}

/** One line of a conversation's runs. */
export function runLine(job: JobRow): RunLine {
  const { hidden, originRunId } = job.about as RunAbout
  const { id, createdAt, endedAt } = job
  return {
    runId: id,
    status: runStatus(job),
    hidden,
    originRunId,
    startedAt: iso(createdAt),
    endedAt: isoOrNull(endedAt),
  }
}

/** A task as its job stands. What it came to, it says once it has ended. */
export function taskOf(job: JobRow): Task {
  const { agent, agentPath, toolCallId } = job.about as TaskAbout
  const told = job.result as RunResult | null
  const over = job.endedAt !== null
  return {
    taskId: job.id,
    toolCallId,
    callId: job.id,
    conversationId: job.conversation,
    agent,
    path: agentPath.split('/').slice(1).join('/'),
    status: job.status,
    text: over ? (told?.text ?? '') : '',
    output: over ? (told?.output ?? null) : null,
    error: over ? (told?.error ?? null) : null,
    usage: told?.usage ?? noUsage(),
    createdAt: iso(job.createdAt),
    startedAt: isoOrNull(job.startedAt),
    endedAt: isoOrNull(job.endedAt),
  }
}

function noUsage(): Usage {
  return { ...emptyCounters(), byAgent: {} }
}
