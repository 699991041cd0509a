/** The handle of a task: what stands as the result of a call that nobody waits for. */

/** Exactly what the calling model reads, and what its document shows until the task has ended [F21]. */
export interface Handle {
  readonly status: 'queued'
  readonly task_id: string
  readonly tool_call_id: string | null
  readonly mode: 'non_blocking'
}

/** The handle of the task of that call. */
export function handleOf(call: string, toolCallId: string | null): Handle {
  return { status: 'queued', task_id: call, tool_call_id: toolCallId, mode: 'non_blocking' }
}
