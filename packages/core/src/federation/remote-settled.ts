/** A task on another server that has ended or asks: the outcome of its call, or the answer that goes to it. */
import { pendingOn } from '../tool/outcome.ts'
import { answerOf, keepFiles } from './remote-answer.ts'
import { type Asks, questionsIn, refusalIn, withAnswers, withKept } from './remote-asks.ts'
import { conditionsIn } from './remote-conditions.ts'
import { nextAnswer } from './remote-message.ts'
import { abandon, count, giveUp, type OpenCall, save } from './remote-open-call.ts'
import { outcomeUnknown, remoteFailed } from './remote-outcome.ts'
import { type Next, read, send } from './remote-requests.ts'
import { emptyTask, hasEnded, isAsking, partsOf, textOf } from './remote-task.ts'

/** What follows from a task that has ended or asks. */
export async function settle(call: OpenCall): Promise<Next> {
  const { task, remote, of, services, note } = call
  const conditions = conditionsIn(task, { remote, passesIssuers: services.passesIssuers(remote) })
  if (conditions.drafts.length > 0) return ask(call, conditions)
  if (isAsking(task)) return ask(call, questionsIn(task.said))
  if (!task.isMessage && task.state !== 'TASK_STATE_COMPLETED') return remoteFailed(remote, textOf(task.said))
  await keepFiles(partsOf(task), of.context.artifacts, task.dropped)
  return answerOf(task, { taken: note.words, isCounted: await count(call, false) })
}

/** Asks here what is asked there. A condition that was met already, when the task before set it, is answered at once. */
async function ask(call: OpenCall, asks: Asks): Promise<Next> {
  const { note, task, of } = call
  const { caller, answers } = of.context
  if (note.rounds >= caller.agent.limits.maxIterations) return giveUp(call, `it has asked ${note.rounds} times`)
  const asked = withKept(asks.asked, note.asked)
  const more = { asked, askedAs: task.saidAs, answers: answers.length, rounds: note.rounds + 1 }
  const isOver = hasEnded(task)
  await count(call, false)
  // After the end of a task its message is sent anew.
  if (isOver) {
    await save(call, { ...more, isOver, task: null, ended: call.note.counted })
    call.task = emptyTask(null, [...task.dropped])
  } else await save(call, { ...more, isOver })
  const open = asks.drafts.filter((_, index) => asked[index]?.answer === null)
  if (open.length > 0) return pendingOn(...open)
  const next = nextAnswer(call.note)
  return next === null ? read(call) : send(call, next, { answeredAs: isOver ? null : task.saidAs })
}

/** Everything that was asked is answered: tells the other server, or ends the call where a condition is not met. */
export async function answerAll(call: OpenCall): Promise<Next> {
  const { of, note } = call
  const { answers } = of.context
  const asked = withAnswers(note.asked, answers, note.answers)
  const refusal = refusalIn(asked, answers)
  if (refusal !== null) {
    abandon(call)
    return refusal
  }
  const answered = { asked, answers: answers.length, answeredAs: note.task === null ? null : note.askedAs }
  const next = nextAnswer({ ...note, asked })
  if (next === null) return note.task === null ? outcomeUnknown(call.remote) : read(call)
  return send(call, next, answered)
}
