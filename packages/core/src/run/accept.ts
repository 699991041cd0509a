/** Accepting a message: it is stored, with its run and the job leased here, before anybody is told [D4, D24]. */
import { type AgentData, type ArtificialAction, type RunResult, WitanError } from '@witan/protocol'
import type { CallPlace, Entry, EntryContent } from '@witan/protocol/entries'
import type { ConversationLog } from '../conversation/log.ts'
import type { WarmConversations } from '../conversation/warm.ts'
import { bind } from '../parameter/bind.ts'
import { visibleValues } from '../parameter/visibility.ts'
import type { Append, AppendResult, ConversationRow, JobRow, Store } from '../store/store.ts'
import type { RunTracker } from '../task/tracker.ts'
import type { Environment, PinnedAgent } from './environment.ts'
import { initialCalls } from './initial.ts'
import type { Worker } from './worker.ts'

/** What commands work with. */
export interface CommandContext {
  readonly env: Environment
  readonly store: Store
  readonly warm: WarmConversations
  readonly worker: Worker
  readonly tracker: RunTracker
}

/** A run that was accepted. */
export interface Accepted {
  readonly runId: string
  readonly conversationId: string
  readonly fromSeq: number
  readonly result: Promise<RunResult>
}

/** What a person says, and on what terms. */
export interface Message {
  readonly text: string
  /** Calls that the model seems to have made on hearing it [Rb52]. */
  readonly artificialActions: readonly ArtificialAction[]
  readonly ifLastSeq: number | null
}

/** Starts a conversation together with its first run. Null where the id was taken meanwhile. */
export async function acceptFirst(
  context: CommandContext,
  row: ConversationRow,
  message: Message,
): Promise<Accepted | null> {
  const log = context.warm.fresh(row)
  const pinned = pinRoot(context, row)
  const run = newRun(context, log, { pinned, message })
  const result = await log.propose({ ...run, create: row })
  if (!result.ok) return null
  context.warm.keep(log)
  return started(context, log, result)
}

/** Starts a run in a conversation where none is live. A live one is given back instead. */
export async function acceptNext(
  context: CommandContext,
  log: ConversationLog,
  message: Message,
): Promise<Accepted | JobRow> {
  const { database, id, rootAgent } = log.state
  const pinned = pinRoot(context, { database, agent: rootAgent })
  const run = newRun(context, log, { pinned, message })
  const result = await log.propose(message.ifLastSeq === null ? run : { ...run, ifLastSeq: message.ifLastSeq })
  if (result.ok) return started(context, log, result)
  if (result.reason === 'active' && result.job !== null) return result.job
  throw refusalError(result.reason, id)
}

function started(context: CommandContext, log: ConversationLog, stored: AppendResult & { ok: true }): Accepted {
  const job = stored.job as JobRow
  const result = context.tracker.next(job.id, job.epoch)
  context.worker.run(job, log)
  return { runId: job.id, conversationId: log.state.id, fromSeq: stored.before, result }
}

/** Why the store refused, as an error for the caller. */
export function refusalError(reason: string, conversation: string): WitanError {
  if (reason === 'moved')
    return new WitanError('REVISION_MISMATCH', `Conversation \`${conversation}\` has moved on.`, {
      path: 'ifLastSeq',
      hint: 'Read it again and repeat.',
    })
  if (reason === 'missing')
    return new WitanError('NOT_FOUND', `There is no conversation \`${conversation}\`.`, {
      hint: 'It may have been deleted meanwhile.',
    })
  if (reason === 'inactive')
    return new WitanError('RUN_FINISHED', 'The run has ended.', { hint: 'Send a prompt to start a new run.' })
  return new WitanError('CONVERSATION_BUSY', `Conversation \`${conversation}\` is being written elsewhere.`, {
    hint: 'Try again.',
  })
}

/** What is said of an agent that is not there. */
export function noAgentError(id: string): WitanError {
  return new WitanError('NOT_FOUND', `There is no agent \`${id}\`.`, {
    path: 'agent',
    hint: 'GET /api/v1/agents lists the agents.',
  })
}

/** The root agent as it is now. Throws `NOT_FOUND`, `AGENT_DISABLED`. */
export function pinRoot(context: CommandContext, row: Pick<ConversationRow, 'database' | 'agent'>): PinnedAgent {
  const pinned = context.env.pin(row.database, row.agent)
  if (pinned === null) throw noAgentError(row.agent)
  if (pinned.data.disabled)
    throw new WitanError('AGENT_DISABLED', `Agent \`${row.agent}\` is disabled.`, {
      path: 'agent',
      hint: 'Save it with `disabled: false` to use it.',
    })
  return pinned
}

function newRun(
  context: CommandContext,
  log: ConversationLog,
  about: { pinned: PinnedAgent; message: Message },
): Append {
  const { env } = context
  const { database, id } = log.state
  const at = env.clock.now()
  const agent: AgentData = about.pinned.data
  const call = env.ids.call()
  const place: CallPlace = {
    call,
    parentCall: null,
    run: call,
    document: id,
    author: agent.id,
    agentPath: agent.id,
    invocation: call,
  }
  const { bound } = bind(agent.parameters, { parent: null, given: log.state.stored.given, map: {} })
  const start: EntryContent = {
    type: 'start',
    kind: 'agent',
    body: {
      agent: agent.id,
      revision: about.pinned.revision,
      toolCallId: null,
      message: about.message.text,
      parameters: visibleValues(agent.parameters, bound),
      generated: null,
      map: {},
      history: 'agent',
      revisions: env.reach(database, agent.id),
      initial: initialCalls(agent, log.state.documents.size === 0),
      hidden: false,
      originRunId: null,
    },
  }
  const entries = [
    messageEntry(env, about.message, { place, at, job: call, appendNo: 1 }),
    { ...start, seq: 0, at, place, job: call, epoch: 1, appendNo: 2 } as Entry,
  ]
  const job = {
    kind: 'create',
    id: call,
    owner: env.owner,
    leaseUntil: context.store.now() + env.leaseMs,
    startedAt: at,
  } as const
  return { database, conversation: id, entries, job, messageAt: at }
}

/** A person's message: it stands just before its run's start, or within the run that is live. */
export function messageEntry(
  env: Environment,
  { text, artificialActions }: Pick<Message, 'text' | 'artificialActions'>,
  at: { place: CallPlace; at: number; job: string; appendNo: number },
): Entry {
  const calls = artificialActions.map(({ name, response }) => ({
    id: env.ids.call(),
    name,
    arguments: '{}',
    response: response ?? null,
  }))
  return {
    type: 'message',
    kind: null,
    body: calls.length === 0 ? { author: 'user', text } : { author: 'user', text, artificialActions: calls },
    seq: 0,
    ...at,
    place: { ...at.place, author: 'user' },
    epoch: 0,
  }
}
