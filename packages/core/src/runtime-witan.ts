/** What one principal can do: each method waits until the runtime is ready, then hands over to its room. */
import { type Prompt, type RunResult, WitanError } from '@witan/protocol'
import { conversationRequestSchema, runRequestSchema } from '@witan/protocol/schemas'
import type { Principal } from './identity/principal.ts'
import { type Accepted, acceptFirst, acceptNext, type CommandContext, type Message } from './run/accept.ts'
import { answerAll, answerOne, cancelRun, joinRun } from './run/inbox.ts'
import { refuseStranger } from './runtime-access.ts'
import { agentDesk } from './runtime-agents.ts'
import { parseBody, refuseMixedInput } from './runtime-body.ts'
import { createChat } from './runtime-chat.ts'
import type { AcceptedRun, OpenedConversation, Witan } from './runtime-contract.ts'
import { forkConversation } from './runtime-fork.ts'
import { holdGiven } from './runtime-given.ts'
import { newConversation } from './runtime-start.ts'
import {
  followEvents,
  getConversation,
  getDocument,
  getRun,
  listConversations,
  listInterruptions,
  present,
  presentInterruption,
  readEvents,
} from './runtime-views.ts'
import type { Parts } from './runtime-wiring.ts'
import type { Answer } from './tool/tool.ts'

/** The door for one principal. */
export function createWitan(parts: Parts, principal: Principal, ready: Promise<void>): Witan {
  const { database } = principal
  const view = { parts, database }
  const door = { parts, principal }
  const witan: Witan = {
    principal,
    agents: agentDesk({ parts, principal, ready }, (id, request) => run(door, id, request)),
    models: parts.check.modelNames,
    conversation: (agent, options = {}) => createChat(witan, agent, options),
    start: (request) => ready.then(() => start(parts, principal, request)),
    run: (id, request) => ready.then(() => run(door, id, request)),
    liveRun: (id) => ready.then(() => liveRun(door, id)),
    getConversation: (id) => ready.then(() => getConversation(view, id)),
    listConversations: (options = {}) => ready.then(() => listConversations(view, options)),
    deleteConversation: (id) => ready.then(() => deleteConversation(door, id)),
    forkConversation: (id, request) => ready.then(() => forkConversation(door, id, request)),
    getDocument: (path, options = {}) => ready.then(() => getDocument(view, path, options)),
    getRun: (id) => ready.then(() => getRun(view, id)),
    async cancelRun(id) {
      await ready
      await cancelRun(parts, database, { run: id, by: principal.id })
    },
    readEvents: (id, filter = {}) => ready.then(() => readEvents(view, id, filter)),
    followEvents: (id, filter) => followEvents({ ...view, ready }, id, filter),
    listInterruptions: (options = {}) => ready.then(() => listInterruptions(view, options)),
    async answerInterruption(id, body) {
      await ready
      const answer = readAnswer(body)
      return presentInterruption(await answerOne(parts, database, { id, answer, by: principal.id }))
    },
  }
  return witan
}

async function deleteConversation({ parts, principal }: Door, id: string): Promise<void> {
  const { database } = principal
  const { activeRunId } = await getConversation({ parts, database }, id)
  if (activeRunId !== null) await interrupt(parts, { parts, principal }, activeRunId)
  await parts.store.deleteConversation(database, id)
  parts.warm.drop(database, id)
  parts.hub.gone(`${database}\n${id}`)
}

async function start(parts: Parts, principal: Principal, body: unknown): Promise<OpenedConversation> {
  const request = parseBody(conversationRequestSchema, body)
  await parts.registry.ensure(principal.database)
  const { row, exists } = await newConversation({ parts, principal }, request)
  const { id, agent } = row
  const prompt = request.prompt
  if (exists) {
    await holdGiven({ parts, principal }, row, request.parameters)
    const run =
      prompt === undefined ? null : await say({ parts, principal }, id, { ...sayDefaults, text: textOf(prompt) })
    return { id, agent, created: false, run }
  }
  if (prompt === undefined) {
    const stored = await parts.store.append({
      database: principal.database,
      conversation: id,
      create: row,
      entries: [],
    })
    if (!stored.ok) return start(parts, principal, body)
    parts.warm.drop(principal.database, id) // an expired one may have had this id
    return { id, agent, created: true, run: null }
  }
  const accepted = await acceptFirst(parts, row, { ...sayDefaults, text: textOf(prompt) })
  if (accepted === null) return start(parts, principal, body)
  return { id, agent, created: true, run: presented({ parts, principal }, accepted) }
}

interface Door {
  readonly parts: Parts
  readonly principal: Principal
}

function presented({ parts, principal }: Door, accepted: Accepted): AcceptedRun {
  const result = accepted.result.then((told: RunResult) => present({ parts, database: principal.database }, told))
  result.catch(() => {})
  return { ...accepted, result }
}

async function liveRun(door: Door, id: string): Promise<AcceptedRun | null> {
  const { parts, principal } = door
  const { database } = principal
  const { seq } = (await parts.warm.get(database, id)).state
  const job = (await parts.store.listJobs(database, id)).find(
    ({ status }) => status === 'running' || status === 'waiting',
  )
  if (job === undefined) return null
  const running = job.status === 'running'
  const result = running ? parts.tracker.next(job.id, job.epoch) : Promise.resolve(job.result as RunResult)
  return presented(door, { runId: job.id, conversationId: id, fromSeq: seq, result })
}

async function run(door: Door, id: string, body: unknown): Promise<AcceptedRun> {
  const request = parseBody(runRequestSchema, body)
  const answers = [
    ...request.actionResponses.map((one) => ({ id: one.id, answer: { value: one.response } as Answer })),
    ...request.answers.map((one) => ({ id: one.id, answer: { value: one.answer } as Answer })),
  ]
  refuseMixedInput(request)
  await door.parts.registry.ensure(door.principal.database)
  if (request.prompt !== undefined) return say(door, id, { ...request, text: textOf(request.prompt) })
  const log = await door.parts.warm.get(door.principal.database, id)
  return presented(
    door,
    await answerAll(door.parts, log, { answers, by: door.principal.id, ifLastSeq: request.ifLastSeq }),
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
  refuseStranger(door, log.state.rootAgent)
  const next = await acceptNext(parts, log, message)
  if ('runId' in next) return presented({ parts, principal }, next)
  if (message.onActive === 'reject') {
    throw new WitanError('RUN_ACTIVE', `Run \`${next.id}\` is active.`, {
      path: 'onActive',
      hint: 'Send onActive enqueue or interrupt, or wait.',
    })
  }
  if (message.onActive === 'interrupt') await interrupt(parts, door, next.id)
  else {
    const joined = await joinRun(parts, log, message)
    if (joined !== null) return presented({ parts, principal }, joined)
  }
  return say(door, id, message)
}

async function interrupt(context: CommandContext, door: Door, runId: string): Promise<void> {
  try {
    const cancelled = await cancelRun(context, door.principal.database, { run: runId, by: door.principal.id })
    await cancelled.result
  } catch (error) {
    if ((error as WitanError).code !== 'RUN_FINISHED') throw error
  }
}

function textOf(prompt: Prompt): string {
  return typeof prompt === 'string' ? prompt : prompt.map((part) => part.text).join('\n')
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
