/** What agents can do with the tasks below them: the same as people, within their own conversation. */
import type { Task } from '@witan/protocol'
import { withoutProviderWords } from '@witan/protocol/entries'
import type { TaskAnswer } from '../conversation/task-state.ts'
import type { CommandContext } from '../command/accept.ts'
import { cancelJob } from '../command/cancel.ts'
import { isTextAndError } from '../conversation/callers-view.ts'
import { progressOf, messageTask } from '../command/steer.ts'
import type { TaskAbout } from '../job/task.ts'
import { taskOf } from './jobs.ts'
import type { FoundTask, TaskControl } from '../task/control.ts'
import type { Caller } from '../tool/tool.ts'

const replyWaitMs = 30_000

/** What agents can do with the tasks below them. `context` is read late, because the tools are created before it. */
export function taskControl(context: () => CommandContext): TaskControl {
  const find = async (caller: Caller, id: string): Promise<FoundTask | null> => {
    const row = await context().store.getJob(caller.database, id)
    if (row?.kind !== 'task' || row.conversation !== caller.conversationId) return null
    const { agentPath } = row.about as TaskAbout
    if (!agentPath.startsWith(`${caller.agentPath}/`)) return null
    const { state } = await context().warm.latest(caller.database, caller.conversationId)
    return inBothForms(taskOf(row), state.answers.get(id))
  }
  return {
    find,
    message: (caller, { id, text, wait, key }, signal) =>
      messageTask(context(), caller.database, {
        id,
        text,
        written: true,
        key,
        from: caller.agent.id,
        waitMs: wait ? replyWaitMs : null,
        signal,
      }),
    progress: (caller, ask, signal) => progressOf(context(), caller.database, { ...ask, signal }),
    async cancel(caller, id) {
      await cancelJob(context(), caller.database, { id, kind: 'task', by: caller.agentPath, tasks: true })
    },
  }
}

function inBothForms(task: Task, answer: TaskAnswer | undefined): FoundTask {
  const forModel = asRead(task, answer?.forModel)
  const error = task.error === null ? null : withoutProviderWords(task.error)
  if (error === task.error && answer?.plain === answer?.forModel) return { forModel, plain: forModel }
  return { forModel, plain: asRead({ ...task, error }, answer?.plain) }
}

/**
 * A task as its caller's model reads it: in the form that the edge specifies, without values that the caller may not know
 * [C17].
 */
function asRead(task: Task, answer: unknown): Task {
  if (answer === undefined) return task
  if (task.error === null) return { ...task, output: answer }
  if (!isTextAndError(answer)) return { ...task, error: { ...task.error, detail: String(answer) } }
  return { ...task, output: answer, error: { ...task.error, detail: answer.error ?? '' } }
}
