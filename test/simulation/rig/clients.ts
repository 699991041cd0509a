/** What clients of a simulation do: each goes to one worker, and only what that one acknowledged is known to have happened. */
import { hiddenValue } from '../../faults/rig/world.ts'
import { conversation, type Scene, type Worker } from './scene.ts'

/** Keeps what is acknowledged; what is not may or may not have happened. */
function keep({ history }: Scene, done: Promise<Scene['history']['acknowledged'][number]>): void {
  done.then(
    (what) => history.acknowledged.push(what),
    () => {},
  )
}

/** Says something that nobody has said before; the first to say something makes the conversation. */
export function say(scene: Scene, { runtime }: Worker, plan: string): void {
  scene.said += 1
  const value = `${plan} #${scene.said}`
  const parameters = { userId: { value: hiddenValue, sendToModel: false } }
  const said = async () => {
    await runtime.start({ agent: 'root', id: conversation, parameters })
    await runtime.run(conversation, { prompt: value, cancelPendingActions: true })
    return { kind: 'message', conversation, subject: null, value } as const
  }
  keep(scene, said())
}

/** Answers the first open interruption, with a value of its own. */
export function answer(scene: Scene, { runtime }: Worker): void {
  scene.said += 1
  const given = { ok: scene.said }
  const answered = async () => {
    const [open] = (await runtime.getConversation(conversation)).interruptions
    if (open === undefined) throw new Error('nothing is open')
    await runtime.answerInterruption(open.id, { answer: given })
    return { kind: 'answer', conversation, subject: open.id, value: JSON.stringify(given) } as const
  }
  keep(scene, answered())
}

/** Cancels whatever run is live. */
export function cancel(scene: Scene, { runtime }: Worker): void {
  const cancelled = async () => {
    const { activeRunId } = await runtime.getConversation(conversation)
    if (activeRunId === null) throw new Error('nothing is live')
    await runtime.cancelRun(activeRunId)
    return { kind: 'cancel', conversation, subject: activeRunId, value: activeRunId } as const
  }
  keep(scene, cancelled())
}

/** Cancels the first task that is live. */
export function cancelTask(scene: Scene, { runtime }: Worker): void {
  const cancelled = async () => {
    const [task] = (await runtime.getConversation(conversation)).tasks
    if (task === undefined) throw new Error('no task is live')
    await runtime.tasks.cancel(task.taskId)
    return { kind: 'cancel', conversation, subject: task.taskId, value: task.taskId } as const
  }
  keep(scene, cancelled())
}
