/** The methods of A2A for one caller of one agent, in no binding yet. */
import { randomUUID } from 'node:crypto'
import type { Principal, Witan } from '@witan/core'
import { mayCall, type OwnRun, type OwnRuns, type PublishedAgent } from '@witan/core/tooling'
import { isWitanError } from '@witan/protocol'
import type { IncomingCall } from '@witan/protocol/entries'
import type { AppOptions } from '../app-options.ts'
import { nothingAt } from '../problem.ts'
import { waitFor } from '../wait.ts'
import { A2aError } from './a2a-error.ts'
import { type Caller, checkReached } from './credential.ts'
import { refusedState, sealFor } from './conditions.ts'
import type { EvidenceChecks } from './evidence.ts'
import { type FoundTask, findTask } from './find-task.ts'
import { framesOf } from './frames.ts'
import { evidenceTerms, taken, withEvidence } from './incoming.ts'
import { historyLengthAt, idAt, invalid, readMessage, type ReadMessage } from './message.ts'
import { type AnswerModes, anyModes } from './modes.ts'
import { accepted, type Placed } from './once.ts'
import { placeMessage } from './place-message.ts'
import { StateRefused } from './resolve-condition.ts'
import { sharesBudget } from './shared-budget.ts'
import { hasEnded, isSettled, taskOf } from './task.ts'
import { listTasks } from './task-list.ts'
import type { StreamFrame, TaskList, WireMessage, WireTask } from './wire.ts'

/** A call of a method: who calls whom, and what stops the wait. */
export interface MethodCall {
  readonly caller: Caller
  /** The agent that is called. A hub gives every agent of its domain, and picks one for a message. */
  readonly agents: readonly PublishedAgent[]
  readonly pick: (message: ReadMessage, own: OwnRuns) => Promise<PublishedAgent>
  readonly params: unknown
  readonly evidence: EvidenceChecks
  /** Is told a principal of the caller, with what its evidence proves, once that lets it in: it must do so until the reply has ended. */
  readonly onLetIn?: (principal: Principal) => void
  /** For the error of what is missing. */
  readonly path: string
  readonly options: AppOptions
  /** Aborts when the caller has gone. */
  readonly gone: AbortSignal
  readonly traceparent: string | null
}

/** What a method gives: a value, or a stream of frames. `agent`: whose run was waited for, or is followed. */
export type MethodReply =
  | {
      readonly value: WireTask | TaskList | { readonly task: WireTask } | { readonly message: WireMessage }
      readonly agent?: PublishedAgent
    }
  | {
      readonly frames: (signal: AbortSignal) => AsyncIterable<StreamFrame>
      readonly onEnd: () => void
      readonly agent?: PublishedAgent
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
  const told = await said(call, message).catch(refusal)
  if (told instanceof StateRefused) return { value: { message: refusedState(message.messageId) } }
  const { witan, agent, ...placed } = told
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
    if (error instanceof StateRefused) return onlyMessage(refusedState(message.messageId))
    throw error
  }
}

function refusal(error: unknown): StateRefused {
  if (error instanceof StateRefused) return error
  throw error
}

/** A stream of one message. */
function onlyMessage(message: WireMessage): MethodReply {
  async function* frames(): AsyncGenerator<StreamFrame> {
    yield { message }
  }
  return { frames, onEnd: () => undefined }
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
      framesOf(
        {
          ...{ own, run, history, settled, withUsage: sharesBudget(call), modes: of.modes },
          sealFor: (one) => sealFor(call, one),
        },
        signal,
      ),
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

/** The task that the parameters name. What is another's, or another agent's, is missing. */
async function taskAt({ params, agents, caller, onLetIn }: MethodCall, own: OwnRuns): Promise<FoundTask> {
  const id = idAt(params, 'id')
  if (id === null) throw invalid('`id` must be the id of a task')
  const found = await findTask({ id, agents, caller }, own)
  onLetIn?.(found.principal)
  return found
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
  const principal = withEvidence(caller.principal, checked)
  if (!mayCall(agent.data.access, principal)) throw nothingAt(call.path)
  call.onLetIn?.(principal)
  const { incoming, notices } = taken(call, agent, { message, checked })
  const witan = witanOf(call, incoming)
  const placed = await accepted(
    {
      ...{ caller, agent: agent.address.text, messageId: message.messageId, gone: call.gone },
      replies: options.runtime.idempotency,
    },
    async (note) => {
      const noting = {
        ...(note === undefined ? {} : { note }),
        ...(traceparent === null ? {} : { traceparent }),
        ...{ messageId: message.messageId, notices },
      }
      return placeMessage({ call, agent, message, witan, contextId }, noting)
    },
  )
  // Behind the message, also where that is sent again: what it renews could end the run that it is for.
  const isOfTask = message.taskId !== null || message.contextId !== null
  if (isOfTask && checked.proven.length > 0) {
    const { conversationId } = await witan.ownRuns.get(placed.runId)
    await witan.ownRuns.renew(conversationId)
  }
  return { ...placed, witan, agent }
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
  const history = await latest(of.own, run, historyLength)
  return taskOf(run, { history, withUsage: sharesBudget(of), modes, seal: await sealFor(of, run) })
}

async function latest(own: OwnRuns, run: OwnRun, length: number | null) {
  if (length === 0) return []
  const all = await own.history(run)
  return length === null ? all : all.slice(-length)
}
