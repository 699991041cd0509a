/** What an agent can do with the tasks below it: handed to the tools for that by the runtime. */
import type { Task, TaskProgress, TaskReply } from '@witan/protocol'
import type { ModelSpending } from '../tool/outcome.ts'
import type { Caller } from '../tool/tool.ts'

/** Words for a task. `key` makes them the same words when they are sent again. */
export interface TaskWords {
  readonly id: string
  readonly text: string
  readonly wait: boolean
  readonly key: string
}

/** Only tasks of the caller's own conversation that are below it can be reached: any other is unknown [E56]. */
export interface TaskReach {
  find(caller: Caller, id: string): Promise<Task | null>
  /** Waits for a reply at most 30 s. Throws `TASK_FINISHED`. */
  message(caller: Caller, words: TaskWords, signal: AbortSignal): Promise<TaskReply>
  /** Throws `TASK_FINISHED`, and a `ModelCallError` where the model could not be called. */
  progress(
    caller: Caller,
    ask: { readonly id: string; readonly question: string },
    signal: AbortSignal,
  ): Promise<TaskProgress & { readonly spent: ModelSpending }>
  /** Throws `TASK_FINISHED`. */
  cancel(caller: Caller, id: string): Promise<void>
}
