/** The interface through which the task tools control an agent's tasks. The runtime implements it. */
import type { Task, TaskProgress, TaskReply } from '@witan/protocol'
import type { CallState } from '../model/model.ts'
import type { ModelSpending } from '../tool/outcome.ts'
import type { Caller } from '../tool/tool.ts'

/** A message for a task. `key` identifies a repeat. */
interface TaskWords {
  readonly id: string
  readonly text: string
  readonly wait: boolean
  readonly key: string
}

/** A task as the model of its caller reads it, and without what a model's server said: the same object where nothing differs. */
export interface FoundTask {
  readonly forModel: Task
  readonly plain: Task
}

/** Controls tasks below the caller in its own conversation. Any other task counts as unknown [E56]. */
export interface TaskControl {
  find(caller: Caller, id: string): Promise<FoundTask | null>
  /** Waits for a reply at most 30 s. Throws `TASK_FINISHED`. */
  message(caller: Caller, words: TaskWords, signal: AbortSignal): Promise<TaskReply>
  /** Throws `TASK_FINISHED`, or a `ModelCallError` if the model call failed. */
  progress(
    caller: Caller,
    ask: { readonly id: string; readonly question: string; readonly state?: CallState | undefined },
    signal: AbortSignal,
  ): Promise<TaskProgress & { readonly spent: ModelSpending }>
  /** Throws `TASK_FINISHED`. */
  cancel(caller: Caller, id: string): Promise<void>
}
