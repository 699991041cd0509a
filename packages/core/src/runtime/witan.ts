/** What one principal can do: each method waits until the runtime is ready, then hands over to its room. */
import { type Interruption, type InterruptionKind, type Prompt, type RunResult, WitanError } from '@witan/protocol'
import { conversationRequestSchema, runRequestSchema } from '@witan/protocol/schemas'
import type { Principal } from '../identity/principal.ts'
import { type Accepted, acceptFirst, acceptNext, type Message, refusalError } from '../command/accept.ts'
import { answerAll, answerOne } from '../command/answer.ts'
import { idOfNamed } from '../agent/registry.ts'
import { cancelJob } from '../command/cancel.ts'
import { channelOf } from '../identity/channel.ts'
import { joinRun } from '../command/join.ts'
import { refuseStranger } from './access.ts'
import { agentDesk } from './agents.ts'
import { parseBody, refuseMixedInput } from './body.ts'
import { createChat } from './chat.ts'
import type { AcceptedRun, NoteOption, OpenedConversation, Witan } from './contract.ts'
import { forkConversation } from './fork.ts'
import { holdGiven, holdUsers } from './given.ts'
import { listInterruptions, present, presentInterruption } from './interruptions.ts'
import { newConversation } from './start.ts'
import { taskDesk } from './tasks.ts'
import { followEvents, getConversation, getDocument, getRun, listConversations, limitOf, readEvents } from './views.ts'
import type { Parts } from './wiring.ts'
import type { Answer } from '../tool/tool.ts'

/** The door for one principal. */
export function createWitan(parts: Parts, principal: Principal, ready: () => Promise<void>): Witan {
  const { database } = principal
  const view = { parts, principal, database }
  const door = { parts, principal }
  const witan: Witan = {
    principal,
    agents: agentDesk({ parts, principal, ready }, (id, request) => run(door, id, { body: request })),
    models: parts.check.modelNames,
    conversation: (agent, options = {}) => createChat(witan, agent, options),
    start: (request, options = {}) => ready().then(() => start({ parts, principal }, request, options)),
    run: (id, request, options = {}) => ready().then(() => run(door, id, { ...options, body: request })),
    followRun: (id) => ready().then(() => followRun(door, id)),
    liveRun: (id) => ready().then(() => liveRun(door, id)),
    getConversation: (id) => ready().then(() => getConversation(view, id)),
    listConversations: (options = {}) => ready().then(() => listConversations(view, options)),
    deleteConversation: (id) => ready().then(() => deleteConversation(door, id)),
    forkConversation: (id, request, options = {}) =>
      ready().then(() => forkConversation(door, id, { ...options, request })),
    getDocument: (path, options = {}) => ready().then(() => getDocument(view, path, options)),
    tasks: taskDesk({ parts, principal, ready }),
    getRun: (id) => ready().then(() => getRun(view, id)),
    async cancelRun(id, options = {}) {
      await ready()
      await cancelJob(parts, database, { id, kind: 'run', by: principal.id, tasks: options.tasks ?? false })
    },
    readEvents: (id, filter = {}) => ready().then(() => readEvents(view, id, filter)),
    followEvents: (id, filter) => followEvents({ ...view, ready }, id, filter),
    listInterruptions: (options = {}) => ready().then(() => listInterruptions(view, options, limitOf(options))),
    answerInterruption: (id, body, options = {}) => ready().then(() => answer(door, { id, ...options }, body)),
  }
  return witan
}

async function deleteConversation({ parts, principal }: Door, id: string): Promise<void> {
  const { database } = principal
  const { activeRunId, tasks } = await getConversation({ parts, principal, database }, id)
  const desk = taskDesk({ parts, principal, ready: () => Promise.resolve() })
  if (activeRunId !== null) await interrupt({ parts, principal }, activeRunId, { tasks: true })
  for (const { taskId } of tasks) await desk.cancel(taskId).catch(isOver)
  await parts.store.deleteConversation(database, id)
  parts.warm.drop(database, id)
  parts.hub.gone(channelOf(database, id))
}

async function start({ parts, principal }: Door, body: unknown, noting: NoteOption): Promise<OpenedConversation> {
  const request = parseBody(conversationRequestSchema, body)
  await parts.registry.ensure(principal.database)
  const { row, exists } = await newConversation({ parts, principal }, request)
  const { id, agent } = row
  const prompt = request.prompt
  if (exists) {
    holdUsers(row, request.users)
    await holdGiven({ parts, principal }, row, request.parameters)
    const run =
      prompt === undefined
        ? null
        : await say({ parts, principal }, id, { ...sayDefaults, ...noting, text: textOf(prompt) })
    return { id, agent, created: false, run }
  }
  if (prompt === undefined) {
    const stored = await parts.store.append({
      database: principal.database,
      conversation: id,
      create: row,
      entries: [],
      ...(noting.note === undefined ? {} : { note: { ...noting.note, text: null } }),
    })
    if (!stored.ok && stored.reason !== 'exists') throw refusalError(stored.reason, id)
    if (!stored.ok) return start({ parts, principal }, body, noting)
    parts.warm.drop(principal.database, id) // an expired one may have had this id
    return { id, agent, created: true, run: null }
  }
  const accepted = await acceptFirst(parts, row, { ...sayDefaults, ...noting, text: textOf(prompt) })
  if (accepted === null) return start({ parts, principal }, body, noting)
  return { id, agent, created: true, run: presented({ parts, principal }, accepted) }
}

interface Door {
  readonly parts: Parts
  readonly principal: Principal
}

function presented({ parts, principal }: Door, accepted: Accepted): AcceptedRun {
  const result = accepted.result.then((told: RunResult) => present({ parts, principal }, told))
  result.catch(() => {})
  return { ...accepted, result }
}

async function liveRun(door: Door, id: string): Promise<AcceptedRun | null> {
  const { parts, principal } = door
  const { database } = principal
  const { seq } = (await parts.warm.get(database, id)).state
  const live = await parts.store.listJobs(database, id, { live: true })
  const job = live.find(({ kind }) => kind === 'run')
  if (job === undefined) return null
  const running = job.status === 'running'
  const result = running ? parts.tracker.next(job) : Promise.resolve(job.result as RunResult)
  return presented(door, { runId: job.id, conversationId: id, fromSeq: seq, result })
}

async function followRun(door: Door, id: string): Promise<AcceptedRun> {
  const { parts, principal } = door
  const job = await parts.store.getJob(principal.database, id)
  if (job === null) throw new WitanError('NOT_FOUND', `There is no run \`${id.slice(0, 80)}\`.`)
  const rests = job.endedAt !== null || (job.status === 'waiting' && !job.wake)
  const result = rests ? Promise.resolve(job.result as RunResult) : parts.tracker.next(job)
  return presented(door, { runId: id, conversationId: job.conversation, fromSeq: job.firstSeq - 1, result })
}

async function run(
  door: Door,
  id: string,
  { body, ...noting }: NoteOption & { readonly body: unknown },
): Promise<AcceptedRun> {
  const request = parseBody(runRequestSchema, body)
  const answers = [
    ...request.actionResponses.map(({ id: action, response }) => ({
      id: action,
      answer: { value: response } as Answer,
      kind: 'action' as const,
    })),
    ...request.answers.map((one) => ({ id: one.id, answer: { value: one.answer } as Answer })),
  ]
  refuseMixedInput(request)
  await door.parts.registry.ensure(door.principal.database)
  if (request.prompt !== undefined) {
    return say(door, id, { ...request, ...noting, text: textOf(request.prompt) })
  }
  const log = await door.parts.warm.get(door.principal.database, id)
  return presented(
    door,
    await answerAll(door.parts, log, { answers, by: door.principal, ifLastSeq: request.ifLastSeq, ...noting }),
  )
}

interface Saying extends Message {
  readonly cancelPendingActions: boolean
  readonly onActive: 'enqueue' | 'reject' | 'interrupt'
}
const sayDefaults = {
  artificialActions: [],
  ifLastSeq: null,
  cancelPendingActions: false,
  onActive: 'enqueue',
} as const

/** Says something in a conversation: a new run, or the live one as `onActive` wants [D12]. */
async function say(door: Door, id: string, message: Saying): Promise<AcceptedRun> {
  const { parts, principal } = door
  const log = await parts.warm.get(principal.database, id)
  await idOfNamed(parts.registry, principal.database, log.state.rootAgent)
  refuseStranger(door, log.state.rootAgent)
  const next = await acceptNext(parts, log, message)
  if ('runId' in next) return presented({ parts, principal }, next)
  if (message.onActive === 'reject') {
    throw new WitanError('RUN_ACTIVE', `Run \`${next.id}\` is active.`, {
      path: 'onActive',
      hint: 'Send onActive enqueue or interrupt, or wait.',
    })
  }
  if (message.onActive === 'interrupt') {
    const { ifLastSeq } = message
    // What the message depends on held when the run was told to end; the entries of that end are no news to its sender.
    if (await interrupt(door, next.id, { ifLastSeq })) return say(door, id, { ...message, ifLastSeq: null })
  } else {
    const joined = await joinRun(parts, log, message)
    if (joined !== null) return presented({ parts, principal }, joined)
  }
  return say(door, id, message)
}

/** Something that was to be cancelled has ended by itself. */
function isOver(error: unknown): void {
  if ((error as WitanError).code !== 'RUN_FINISHED' && (error as WitanError).code !== 'TASK_FINISHED') throw error
}

/** Cancels a run and waits for its end; false where it had ended by itself. */
async function interrupt(
  { parts, principal }: Door,
  id: string,
  { tasks = false, ifLastSeq = null }: { readonly tasks?: boolean; readonly ifLastSeq?: number | null } = {},
): Promise<boolean> {
  try {
    const cancelling = { id, kind: 'run', by: principal.id, tasks, ifLastSeq } as const
    const cancelled = await cancelJob(parts, principal.database, cancelling)
    await cancelled.result
    return true
  } catch (error) {
    isOver(error)
    return false
  }
}

function textOf(prompt: Prompt): string {
  return typeof prompt === 'string' ? prompt : prompt.map((part) => part.text).join('\n')
}

async function answer(
  { parts, principal }: Door,
  to: { readonly id: string; readonly kind?: InterruptionKind },
  body: unknown,
): Promise<Interruption> {
  const { database } = principal
  await parts.registry.ensure(database)
  const row = await answerOne(parts, database, { ...to, answer: readAnswer(body), by: principal })
  const conversation = await parts.store.getConversation(database, row.conversation)
  return presentInterruption(principal, row, conversation?.createdBy ?? '')
}

function readAnswer(body: unknown): Answer {
  const given = (typeof body === 'object' && body !== null ? body : {}) as Record<string, unknown>
  const keys = Object.keys(given)
  if (keys.length === 1 && Object.hasOwn(given, 'answer')) return { value: given['answer'] }
  if (keys.length === 1 && typeof given['error'] === 'string') return { error: given['error'] }
  throw new WitanError(
    'ANSWER_INVALID',
    'An answer is `{ "answer": … }`, or `{ "error": "…" }` with the error in words.',
    { path: 'answer', hint: 'Send exactly one of the two keys.' },
  )
}
