/** A run as a task of A2A: a projection of the log, kept nowhere else. */
import type { Asked, OwnMessage, OwnRun } from '@witan/core/tooling'
import { type ErrorCode, errorTable } from '@witan/protocol'
import { isPolicy, policyExtension, policyPart, type Seal } from './conditions.ts'
import { type AnswerModes, anyModes } from './modes.ts'
import { usageMetadata } from './shared-budget.ts'
import type { TaskState, WireArtifact, WireMessage, WirePart, WireStatus, WireTask } from './wire.ts'

/** The id of the one artifact of a task. */
export const answerId = 'answer'

/** The state of a run as a task. What waits for anybody else than its caller is work that goes on. */
export function stateOf({ status, asked }: Pick<OwnRun, 'status' | 'asked'>): TaskState {
  if (status === 'completed') return 'TASK_STATE_COMPLETED'
  if (status === 'failed') return 'TASK_STATE_FAILED'
  if (status === 'cancelled') return 'TASK_STATE_CANCELED'
  if (asked.length === 0) return 'TASK_STATE_WORKING'
  const isSignIn = asked.every((one) => isPolicy(one) && one.policy['kind'] === 'unauthorized')
  return isSignIn ? 'TASK_STATE_AUTH_REQUIRED' : 'TASK_STATE_INPUT_REQUIRED'
}

/** True once a call that waits for the task is answered: it has ended, or asks its caller. */
export function isSettled(run: Pick<OwnRun, 'status' | 'asked'>): boolean {
  return stateOf(run) !== 'TASK_STATE_WORKING'
}

/** True if the task has ended. */
export function hasEnded({ status }: Pick<OwnRun, 'status'>): boolean {
  return status !== 'running' && status !== 'waiting'
}

/** What a task shows beside its state. */
interface TaskForm {
  readonly history?: readonly OwnMessage[]
  readonly withArtifacts?: boolean
  /** Whether it says what it has cost. */
  readonly withUsage?: boolean
  /** Which parts its answer may have. */
  readonly modes?: AnswerModes
  /** What seals the states of the conditions that it asks; absent: they have none. */
  readonly seal?: Seal
}

/** The task of a run. */
export function taskOf(run: OwnRun, form: TaskForm = {}): WireTask {
  const { history = [], withArtifacts = true, withUsage = false, modes = anyModes, seal } = form
  const { runId, conversationId } = run
  const task: { -readonly [Name in keyof WireTask]: WireTask[Name] } = {
    id: runId,
    contextId: conversationId,
    status: statusOf(run, seal),
  }
  const artifact = withArtifacts ? answerOf(run, modes) : null
  if (artifact !== null) task.artifacts = [artifact]
  if (history.length > 0) task.history = history.map((one) => messageOf(run, one))
  return withUsage ? { ...task, ...usageMetadata(run) } : task
}

/** The status of a run, with what its caller is asked, or why it failed. */
export function statusOf(run: OwnRun, seal: Seal = () => null): WireStatus {
  const status = { state: stateOf(run), timestamp: new Date(run.changedAt).toISOString() }
  const parts = statusParts(run, seal)
  if (parts.length === 0) return status
  const message = agentMessage(run, statusId(run), parts)
  return { ...status, message: run.asked.some(isPolicy) ? { ...message, extensions: [policyExtension] } : message }
}

/** Another name for each set of things that a run asks: a caller knows by it whether its answer was taken. */
function statusId({ runId, asked }: OwnRun): string {
  const last = asked.at(-1)
  return last === undefined ? `${runId}.status` : `${runId}.${last.id}.${asked.length}`
}

function statusParts({ status, result, asked }: OwnRun, seal: Seal): readonly WirePart[] {
  // Only the title: the detail may say what is for the people of this server.
  if (status === 'failed') return [{ text: titleOf(result?.error?.code) }]
  return asked.flatMap((one) => askedParts(one, seal))
}

function titleOf(code: string | undefined): string {
  return isCode(code) ? errorTable[code].title : errorTable.INTERNAL.title
}

function isCode(code: string | undefined): code is ErrorCode {
  return code !== undefined && Object.hasOwn(errorTable, code)
}

/** The answer of a run that has completed; null for any other. Who takes only text, or only data, gets all of it so. */
export function answerOf({ status, result }: OwnRun, modes: AnswerModes): WireArtifact | null {
  if (status !== 'completed' || result === null) return null
  const { text, output } = result
  const hasOutput = output !== null && output !== undefined
  const data: readonly WirePart[] =
    modes.data && (hasOutput || !modes.text) ? [{ data: hasOutput ? output : text }] : []
  const isSaid = modes.text && (text !== '' || data.length === 0)
  const words = text === '' && hasOutput ? JSON.stringify(output) : text
  return { artifactId: answerId, parts: isSaid ? [{ text: words }, ...data] : data }
}

/** What is asked, in words and as data. The words of a condition are data alone: no model is to read them. */
function askedParts(asked: Asked, seal: Seal = () => null): readonly WirePart[] {
  const { id } = asked
  if (isPolicy(asked)) return [policyPart(asked, seal(asked))]
  if (asked.kind === 'action') {
    const { path, name, arguments: given } = asked
    const data = { type: 'action', id, path, name, arguments: given }
    return [{ text: `${name} ${JSON.stringify(given)}` }, { data }]
  }
  const { questions } = asked
  const lines = questions.flatMap(({ text, options }) => [text, ...options.map((one) => `- ${one.id}: ${one.label}`)])
  return [{ text: lines.join('\n') }, { data: { type: 'question', id, questions } }]
}

function agentMessage({ runId, conversationId }: OwnRun, messageId: string, parts: readonly WirePart[]): WireMessage {
  return { messageId, contextId: conversationId, taskId: runId, role: 'ROLE_AGENT', parts }
}

/** A message of the history. What a file held is not in it. */
function messageOf(run: OwnRun, said: OwnMessage): WireMessage {
  if (said.by === 'agent') return agentMessage(run, said.asked.id, askedParts(said.asked))
  const { runId: taskId, conversationId: contextId } = run
  const place = { messageId: said.id ?? `${taskId}.${said.seq}`, contextId, taskId, role: 'ROLE_USER' } as const
  if ('text' in said) return { ...place, parts: [{ text: said.text }] }
  if (said.kind === 'policy') return { ...place, parts: [{ data: { type: 'policy_resolution' } }] }
  return { ...place, parts: [{ data: { type: 'answer', id: said.answerTo, ...answerData(said.answer) } }] }
}

function answerData(answer: unknown): object {
  if (typeof answer !== 'object' || answer === null) return { answer }
  return 'error' in answer ? { error: answer.error } : { answer: 'value' in answer ? answer.value : answer }
}
