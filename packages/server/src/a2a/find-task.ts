/** Finds the tasks of a caller. What is another's, or another agent's, is missing [A2A §3.3]. */
import type { Principal } from '@witan/core'
import type { OwnRun, OwnRuns, PublishedAgent } from '@witan/core/tooling'
import { isWitanError } from '@witan/protocol'
import { A2aError } from './a2a-error.ts'
import type { Caller } from './credential.ts'
import { finder } from './let-in.ts'

/** A task, the agent that works on it, and by which principal its caller finds it. */
export interface FoundTask {
  readonly run: OwnRun
  readonly agent: PublishedAgent
  readonly principal: Principal
}

/** The task of that id. Throws `TASK_NOT_FOUND`. */
export async function findTask(
  { id, agents, caller }: { readonly id: string; readonly agents: readonly PublishedAgent[]; readonly caller: Caller },
  own: OwnRuns,
): Promise<FoundTask> {
  const run = caller.isAnonymous ? null : await orNull(own.get(id))
  const agent = agents.find(({ data }) => data.id === run?.agent)
  const principal = run === null || agent === undefined ? null : await finder(agent, caller, { run, own })
  if (run === null || agent === undefined || principal === null) throw taskNotFound()
  return { run, agent, principal }
}

/** The same for a context, and everything else that names none. */
export async function orNull<Value>(found: Promise<Value>): Promise<Value | null> {
  try {
    return await found
  } catch (error) {
    if (isWitanError(error) && error.code === 'NOT_FOUND') return null
    throw error
  }
}

/** The error for a task or context that is missing, or not the caller's. */
export function taskNotFound(): A2aError {
  return new A2aError('TASK_NOT_FOUND', 'There is no such task or context of yours at this agent.')
}
