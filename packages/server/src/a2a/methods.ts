/** The methods of A2A for one caller of one agent, in no binding yet. */
import { randomUUID } from 'node:crypto'
import type { AcceptedRun, Principal, Witan } from '@witan/core'
import { mayCall, type OwnRun, type OwnRuns, type PublishedAgent } from '@witan/core/tooling'
import { isWitanError, WitanError } from '@witan/protocol'
import type { IncomingCall } from '@witan/protocol/entries'
import type { AppOptions } from '../app-options.ts'
import { nothingAt } from '../problem.ts'
import { waitFor } from '../wait.ts'
import { A2aError } from './a2a-error.ts'
import { type Caller, checkReached } from './credential.ts'
import type { EvidenceChecks } from './evidence.ts'
import { framesOf } from './frames.ts'
import { isLetIn } from './let-in.ts'
import { evidenceTerms, taken, withEvidence } from './incoming.ts'
import { historyLengthAt, idAt, invalid, readMessage, type ReadMessage } from './message.ts'
import { type AnswerModes, anyModes } from './modes.ts'
import { accepted, type Placed } from './once.ts'
import { reserveTask } from './open-tasks.ts'
import { sharesBudget } from './shared-budget.ts'
import { hasEnded, isSettled, taskOf } from './task.ts'
import { listTasks } from './task-list.ts'
import type { StreamFrame, TaskList, WireTask } from './wire.ts'

/** A call of a method: who calls whom, and what stops the wait. */
export interface MethodCall {
  readonly caller: Caller
  /** The agent that is called. A hub gives every agent of its domain, and picks one for a message. */
  readonly agents: readonly PublishedAgent[]
  readonly pick: (message: ReadMessage, own: OwnRuns) => Promise<PublishedAgent>
  readonly params: unknown
  readonly evidence: EvidenceChecks
  /** For the error of what is missing. */
  readonly path: string
  readonly options: AppOptions
  /** Aborts when the caller has gone. */
  readonly gone: AbortSignal
  readonly traceparent: string | null
}

/** What a method gives: a value, or a stream of frames. `agent`: whose run was waited for, or is followed. */
export type MethodReply =
  | { readonly value: WireTask | TaskList | { readonly task: WireTask }; readonly agent?: PublishedAgent }
  | {
      readonly frames: (signal: AbortSignal) => AsyncIterable<StreamFrame>
      readonly onEnd: () => void
      readonly agent: PublishedAgent
    }

/** How the id of a context begins; the server makes the rest. */
const contextPrefix = 'a2a/'

type Method = (call: MethodCall) => Promise<MethodReply>

/** Refused by name. */
const noPush: Method = async () => {
  throw new A2aError('PUSH_NOTIFICATION_NOT_SUPPORTED', 'This agent sends no push notifications.')
}

/** Every method by its name in JSON-RPC. */
export const methods: ReadonlyMap<string, Method> = new Map<string, Method>([
  ['SendMessage', sendMessage],
  ['SendStreamingMessage', streamMessage],
  ['GetTask', async (call) => ({ value: await getTask(call) })],
  ['ListTasks', async (call) => ({ value: await listTasks(call, witanOf(call).ownRuns) })],
  ['CancelTask', cancelTask],
  ['SubscribeToTask', subscribe],
  ['CreateTaskPushNotificationConfig', noPush],
  ['GetTaskPushNotificationConfig', noPush],
  ['ListTaskPushNotificationConfigs', noPush],
  ['DeleteTaskPushNotificationConfig', noPush],
  [
    'GetExtendedAgentCard',
    async () => {
      throw new A2aError('UNSUPPORTED_OPERATION', 'This agent has no extended card.')
    },
  ],
])

/** True for the methods that carry a message: the id of a credential is that of the message. */
export function takesMessage(method: unknown): boolean {
  return method === 'SendMessage' || method === 'SendStreamingMessage'
}

function witanOf({ caller, options }: MethodCall, incoming?: IncomingCall): Witan {
  const principal: Principal = incoming === undefined ? caller.principal : { ...caller.principal, incoming }
  return options.runtime.as(principal)
}

async function sendMessage(call: MethodCall): Promise<MethodReply> {
  const message = readMessage(call.params)
  const { witan, agent, ...placed } = await said(call, message)
  const own = witan.ownRuns
  const run = message.returnImmediately ? await own.get(placed.runId) : await settledRun(call, own, placed)
  return { value: { task: await whole({ ...call, own }, run, message) }, agent }
}

async function streamMessage(call: MethodCall): Promise<MethodReply> {
  const message = readMessage(call.params)
  // Announced before the message is stored: else the first model call would not be asked for its text as it writes it.
  const contextId = message.contextId ?? `${contextPrefix}${randomUUID()}`
  const leave = witanOf(call).ownRuns.watch(contextId)
  try {
    const { witan, ...told } = await said(call, message, contextId)
    const { historyLength, modes } = message
    return await streamOf(call, witan.ownRuns, { ...told, historyLength, modes, onEnd: leave })
  } catch (error) {
    leave()
    throw error
  }
}

async function streamOf(
  call: MethodCall,
  own: OwnRuns,
  of: Pick<Placed, 'runId' | 'rest'> & {
    readonly agent: PublishedAgent
    readonly historyLength: number | null
    readonly modes: AnswerModes
    readonly onEnd: () => void
  },
): Promise<MethodReply> {
  const run = await own.get(of.runId)
  const history = await latest(own, run, of.historyLength)
  const left = new AbortController()
  const settled = settledRun({ ...call, gone: left.signal }, own, of).catch(() => null)
  return {
    agent: of.agent,
    frames: (signal) =>
      framesOf({ own, run, history, settled, withUsage: sharesBudget(call), modes: of.modes }, signal),
    onEnd() {
      left.abort()
      of.onEnd()
    },
  }
}

async function getTask(call: MethodCall): Promise<WireTask> {
  const own = witanOf(call).ownRuns
  const historyLength = historyLengthAt(call.params)
  return whole({ ...call, own }, (await taskAt(call, own)).run, { historyLength })
}

async function cancelTask(call: MethodCall): Promise<MethodReply> {
  const witan = witanOf(call)
  const own = witan.ownRuns
  const { run } = await taskAt(call, own)
  if (hasEnded(run)) throw notCancelable(run.runId)
  try {
    await witan.cancelRun(run.runId, { tasks: true })
  } catch (error) {
    throw isWitanError(error) && error.code === 'RUN_FINISHED' ? notCancelable(run.runId) : error
  }
  const ended = await until(call, own, { runId: run.runId, isThere: hasEnded })
  return { value: await whole({ ...call, own }, ended, {}) }
}

async function subscribe(call: MethodCall): Promise<MethodReply> {
  const own = witanOf(call).ownRuns
  const { run, agent } = await taskAt(call, own)
  if (hasEnded(run)) throw new A2aError('UNSUPPORTED_OPERATION', `Task \`${run.runId}\` has ended.`)
  const leave = own.watch(run.conversationId)
  try {
    const { runId } = run
    return await streamOf(call, own, { runId, agent, historyLength: null, modes: anyModes, onEnd: leave })
  } catch (error) {
    leave()
    throw error
  }
}

interface FoundTask {
  readonly run: OwnRun
  readonly agent: PublishedAgent
}

/** The task that the parameters name. What is another's, or another agent's, is missing. */
async function taskAt({ params, agents, caller }: MethodCall, own: OwnRuns): Promise<FoundTask> {
  const id = idAt(params, 'id')
  if (id === null) throw invalid('`id` must be the id of a task')
  return findTask({ id, agents, caller }, own)
}

async function findTask(
  { id, agents, caller }: Pick<MethodCall, 'agents' | 'caller'> & { readonly id: string },
  own: OwnRuns,
): Promise<FoundTask> {
  const run = caller.isAnonymous ? null : await orNull(own.get(id))
  const agent = agents.find(({ data }) => data.id === run?.agent)
  if (run === null || agent === undefined || !isLetIn(agent, caller)) throw taskNotFound()
  return { run, agent }
}

/** The same for a context, and everything else that names none. */
async function orNull<Value>(found: Promise<Value>): Promise<Value | null> {
  try {
    return await found
  } catch (error) {
    if (isWitanError(error) && error.code === 'NOT_FOUND') return null
    throw error
  }
}

function taskNotFound(): A2aError {
  return new A2aError('TASK_NOT_FOUND', 'There is no such task or context of yours at this agent.')
}

function notCancelable(id: string): A2aError {
  return new A2aError('TASK_NOT_CANCELABLE', `Task \`${id}\` has ended.`)
}

interface Said extends Pick<Placed, 'runId' | 'rest'> {
  readonly witan: Witan
  readonly agent: PublishedAgent
}

/** Takes a message in, once for each of its ids: it begins a task, joins one, or answers what one asked. */
async function said(call: MethodCall, message: ReadMessage, contextId = contextPrefix): Promise<Said> {
  const { caller, options, traceparent } = call
  const agent = await call.pick(message, witanOf(call).ownRuns)
  checkReached(caller, agent)
  const checked = await call.evidence.check(message.evidence, evidenceTerms(call, agent, message))
  if (!mayCall(agent.data.access, withEvidence(caller.principal, checked))) throw nothingAt(call.path)
  const { incoming, notices } = taken(call, agent, { message, checked })
  const witan = witanOf(call, incoming)
  const placed = await accepted(
    { caller, agent: agent.address.text, messageId: message.messageId, replies: options.runtime.idempotency },
    async (note) => {
      const noting = {
        ...(note === undefined ? {} : { note }),
        ...(traceparent === null ? {} : { traceparent }),
        ...{ messageId: message.messageId, notices },
      }
      return place({ call, agent, message, witan, contextId }, noting)
    },
  )
  return { ...placed, witan, agent }
}

type Noting = NonNullable<Parameters<Witan['run']>[2]>

interface Placing {
  readonly call: MethodCall
  readonly agent: PublishedAgent
  readonly message: ReadMessage
  readonly witan: Witan
  /** The id of a new context, or how the server is to begin it. */
  readonly contextId: string
}

/** Stores the message where it belongs, and gives the id of the task that has it. */
async function place(placing: Placing, noting: Noting): Promise<Placed> {
  const { call, agent, message, witan } = placing
  const live = await liveOf(placing)
  await checkReferences(placing, live?.conversationId ?? message.contextId)
  if (live !== null && message.taskId !== null && hasEnded(live))
    throw new A2aError('UNSUPPORTED_OPERATION', `Task \`${live.runId}\` has ended. Send the message without its id.`)
  if (live !== null) await witan.ownRuns.renew(live.conversationId)
  if (message.answers.length > 0) return answer(placing, live, noting)
  const { prompt } = message
  if (prompt === null) throw invalid('`message.parts` says nothing')
  const question = live === null ? null : onlyFreeText(live)
  if (live !== null && question !== null && message.text !== null) {
    const given = { id: question.id, answer: { [question.question]: { text: message.text } } }
    return noted(await witan.run(live.conversationId, { answers: [given] }, noting))
  }
  if (live !== null) return noted(await witan.run(live.conversationId, { prompt }, noting))
  const release = await reserveTask(call.caller.principal, witan.ownRuns, call.options.federation?.maxOpenTasks ?? 64)
  try {
    if (message.contextId !== null) return noted(await witan.run(message.contextId, { prompt }, noting))
    const opened = await witan.start({ agent: agent.data.id, id: placing.contextId, prompt }, noting)
    if (opened.run === null) throw new Error('a conversation with a prompt has a run')
    return noted(opened.run)
  } finally {
    release()
  }
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
    if (!live.asked.some((one) => one.id === id)) throw answerInvalid(`This task does not ask \`${shown(id)}\` now.`)
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

/** The run once it has ended or asks its caller; as it is if the caller leaves or the server stops. */
function settledRun(call: MethodCall, own: OwnRuns, of: Pick<Placed, 'runId' | 'rest'>): Promise<OwnRun> {
  return until(call, own, { ...of, isThere: isSettled })
}

/** `rest`: before that the run is not there, so it is read once if it is there then. */
async function until(
  { gone, options }: MethodCall,
  own: OwnRuns,
  of: Pick<Placed, 'runId' | 'rest'> & { readonly isThere: (run: OwnRun) => boolean },
): Promise<OwnRun> {
  const over = AbortSignal.any([gone, options.stop.waits])
  if (of.rest !== undefined)
    await waitFor(
      of.rest.catch(() => undefined),
      over,
    )
  for (;;) {
    const run = await own.get(of.runId)
    if (of.isThere(run) || over.aborted) return run
    const moved = own.moved(run).then(() => true)
    moved.catch(() => undefined)
    if ((await waitFor(moved, over)) === null) return own.get(of.runId)
  }
}

/** A task with its history, newest messages first to stay. */
async function whole(
  of: MethodCall & { readonly own: OwnRuns },
  run: OwnRun,
  { historyLength = null, modes = anyModes }: Partial<Pick<ReadMessage, 'historyLength' | 'modes'>>,
): Promise<WireTask> {
  return taskOf(run, { history: await latest(of.own, run, historyLength), withUsage: sharesBudget(of), modes })
}

async function latest(own: OwnRuns, run: OwnRun, length: number | null) {
  if (length === 0) return []
  const all = await own.history(run)
  return length === null ? all : all.slice(-length)
}
