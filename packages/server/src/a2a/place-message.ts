/** Stores a message where it belongs: it begins a task, joins one, answers what one asks, or resolves a condition of it. */
import type { AcceptedRun, Witan } from '@witan/core'
import type { OwnRun, PublishedAgent } from '@witan/core/tooling'
import { type Prompt, WitanError } from '@witan/protocol'
import type { AppOptions } from '../app-options.ts'
import { A2aError } from './a2a-error.ts'
import { isPolicy } from './conditions.ts'
import type { Caller } from './credential.ts'
import { findTask, orNull, taskNotFound } from './find-task.ts'
import { invalid, type ReadMessage } from './message.ts'
import type { Placed } from './once.ts'
import { resolveCondition } from './resolve-condition.ts'
import { hasEnded } from './task.ts'

type Noting = NonNullable<Parameters<Witan['run']>[2]>

interface Placing {
  readonly call: { readonly caller: Caller; readonly options: Pick<AppOptions, 'runtime' | 'federation'> }
  readonly agent: PublishedAgent
  readonly message: ReadMessage
  readonly witan: Witan
  /** The id of a new context, or how the server is to begin it. */
  readonly contextId: string
}

/** Stores the message where it belongs, and gives the id of the task that has it. */
export async function placeMessage(placing: Placing, noting: Noting): Promise<Placed> {
  const { call, agent, message, witan } = placing
  const live = await liveOf(placing)
  await checkReferences(placing, live?.conversationId ?? message.contextId)
  if (message.resolution !== null) {
    const of = { given: message.resolution, caller: call.caller, options: call.options, agent, witan, live }
    return noted(await resolveCondition(of, noting))
  }
  if (live !== null && message.taskId !== null && hasEnded(live))
    throw new A2aError('UNSUPPORTED_OPERATION', `Task \`${live.runId}\` has ended. Send the message without its id.`)
  if (message.answers.length > 0) return answer(placing, live, noting)
  const { prompt } = message
  if (prompt === null) throw invalid('`message.parts` says nothing')
  const question = live === null ? null : onlyFreeText(live)
  if (live !== null && question !== null && message.text !== null) {
    const given = { id: question.id, answer: { [question.question]: { text: message.text } } }
    return noted(await witan.run(live.conversationId, { answers: [given] }, noting))
  }
  const mostLive = call.options.federation?.maxOpenTasks ?? 64
  const limited = { ...noting, mostLive }
  // The task may have ended since it was read: then the message begins one.
  if (live !== null) return noted(await witan.run(live.conversationId, { prompt }, limited))
  // Files are stored before the message that the limit refuses.
  if (hasFiles(prompt)) await witan.ownRuns.refuseMore(mostLive)
  if (message.contextId !== null) return noted(await witan.run(message.contextId, { prompt }, limited))
  const opened = await witan.start({ agent: agent.data.id, id: placing.contextId, prompt }, limited)
  if (opened.run === null) throw new Error('a conversation with a prompt has a run')
  return noted(opened.run)
}

function hasFiles(prompt: Prompt): boolean {
  return typeof prompt !== 'string' && prompt.some(({ type }) => type === 'file')
}

/** Refuses what refers to tasks of another context: an agent reads all of its own context, and nothing of another one. */
async function checkReferences({ call, agent, message, witan }: Placing, contextId: string | null): Promise<void> {
  for (const id of message.references) {
    const { run } = await findTask({ id, agents: [agent], caller: call.caller }, witan.ownRuns)
    if (run.conversationId !== contextId)
      throw new A2aError(
        'UNSUPPORTED_OPERATION',
        '`message.referenceTaskIds` may name tasks of the message’s own context. Send it with their `contextId`.',
      )
  }
}

/** The task that a message is for, or the one at work in its context; null if it begins one. */
async function liveOf({ call, agent, message, witan }: Placing): Promise<OwnRun | null> {
  const { taskId, contextId } = message
  const own = witan.ownRuns
  const { caller } = call
  if (taskId !== null) {
    const { run } = await findTask({ id: taskId, agents: [agent], caller }, own)
    if (contextId !== null && contextId !== run.conversationId)
      throw invalid('`message.contextId` must be the context of the task')
    return run
  }
  if (contextId === null) return null
  const known = caller.isAnonymous ? null : await orNull(own.agentOf(contextId))
  if (known !== agent.data.id) throw taskNotFound()
  return own.liveIn(contextId)
}

/** The one question that a bare text answers: nothing else is asked, and it takes any text. */
function onlyFreeText({ asked }: OwnRun): { readonly id: string; readonly question: string } | null {
  const [only] = asked
  if (asked.length !== 1 || only?.kind !== 'question') return null
  const [question] = only.questions
  if (only.questions.length !== 1 || question === undefined || !question.freeText) return null
  return { id: only.id, question: question.id }
}

async function answer({ message, witan }: Placing, live: OwnRun | null, noting: Noting): Promise<Placed> {
  if (live === null) throw answerInvalid('An answer needs the `taskId` of the task that asked.')
  const { answers } = message
  for (const { id } of answers)
    if (!live.asked.some((one) => one.id === id && !isPolicy(one)))
      throw answerInvalid(`This task does not ask \`${shown(id)}\` now.`)
  if (answers.every((one) => 'answer' in one))
    return noted(await witan.run(live.conversationId, { answers: answers.filter((one) => 'answer' in one) }, noting))
  for (const one of answers)
    await witan.answerInterruption(one.id, 'answer' in one ? { answer: one.answer } : { error: one.error })
  return { runId: live.runId, isNoted: false }
}

function noted({ runId, result }: AcceptedRun): Placed {
  return { runId, isNoted: true, rest: result }
}

function shown(id: string): string {
  return id.slice(0, 80).replace(/[^\w.-]/g, '?')
}

function answerInvalid(detail: string): WitanError {
  return new WitanError('ANSWER_INVALID', detail)
}
