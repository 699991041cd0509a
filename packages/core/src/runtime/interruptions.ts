/**
 * Interruptions as one principal sees them: only those that it may answer or read, and the values that its answer needs.
 * Also answers them.
 */
import {
  type Conversation,
  type Interruption,
  type InterruptionKind,
  type RunResult,
  type Task,
  WitanError,
} from '@witan/protocol'
import { answerOne } from '../command/answer-interruption.ts'
import type { Principal } from '../identity/principal.ts'
import { mayAnswer, mayKnow } from '../interruption/may-answer.ts'
import { refuseTooDeep } from './body.ts'
import type { Page, PageOptions } from './contract.ts'
import { taskOf } from './jobs.ts'
import type { Scope } from './scope.ts'
import type { StoredResult } from '../task/tracker.ts'
import { traceIdOf } from '../identity/trace.ts'
import type { InterruptionRow } from '../store/store.ts'
import type { Answer } from '../tool/tool.ts'

/**
 * The asking agent's bound values are merged into an action's arguments for everybody who may answer it; a model's
 * arguments never win [Rb09].
 */
export function presentInterruption(principal: Principal, row: InterruptionRow, createdBy: string): Interruption {
  const createdAt = new Date(row.createdAt).toISOString()
  const view: Interruption = { ...row.view, conversationId: row.conversation, createdAt }
  if (view.kind !== 'action' || !mayAnswer(principal, { addressee: view.addressee, createdBy })) return view
  return { ...view, arguments: { ...view.arguments, ...row.bound } }
}

/** The current state of a run's tasks. */
function freshTasks({ parts, database }: Scope, { tasks }: RunResult): Promise<Task[]> {
  const rows = tasks.map(async (task) => {
    const job = await parts.store.getJob(database, task.taskId)
    return job === null ? task : taskOf(job)
  })
  return Promise.all(rows)
}

/** A result as it is stored, or as an earlier version stored it: without the agent that spoke. */
type OldResult = Omit<StoredResult, 'agent'> & Partial<Pick<StoredResult, 'agent'>>

/** Without hand-overs the root spoke. */
async function rootOf({ parts, database }: Scope, { conversationId }: OldResult): Promise<string> {
  return (await parts.store.getConversation(database, conversationId))?.agent ?? ''
}

/** A result as its caller sees it. */
export async function present(scope: Scope, stored: OldResult): Promise<RunResult> {
  const { parts, principal, database } = scope
  const traceId = traceIdOf(database, stored.runId)
  const known: RunResult = { ...stored, agent: stored.agent ?? (await rootOf(scope, stored)), traceId }
  const result = known.tasks.length === 0 ? known : { ...known, tasks: await freshTasks(scope, known) }
  if (result.interruptions.length === 0) return result
  const createdBy = await creatorOf(scope, result.conversationId)
  const rows = await Promise.all(result.interruptions.map(({ id }) => parts.store.getInterruption(database, id)))
  return {
    ...result,
    interruptions: result.interruptions.map((one, index) => {
      const row = rows[index]
      return row ? presentInterruption(principal, row, createdBy) : one
    }),
  }
}

/** The open interruptions of a conversation, in the order of their creation. */
export async function openOf(
  { parts, principal, database }: Scope,
  of: { readonly id: string; readonly createdBy: string },
): Promise<Conversation['interruptions']> {
  const rows = await parts.store.listInterruptions(database, {
    state: 'open',
    conversation: of.id,
    addressees: null,
    limit: 200,
    after: null,
  })
  return rows.map((row) => presentInterruption(principal, row, of.createdBy))
}

/** Selects interruptions: by state, and by addressee: a person's id, `role:<name>`, `me` or `none`. */
export interface InterruptionFilter extends PageOptions {
  readonly state?: string
  readonly addressee?: string
}

const chunk = 200

/** A page of what the principal may answer or read, in the order of creation. */
export async function listInterruptions(
  scope: Scope,
  options: InterruptionFilter,
  limit: number,
): Promise<Page<Interruption>> {
  const { parts, principal, database } = scope
  const { addressee } = options
  const creators = new Map<string, string>()
  const items: Interruption[] = []
  let after = options.cursor ?? null
  for (;;) {
    const rows = await parts.store.listInterruptions(database, {
      limit: chunk,
      after,
      state: options.state ?? null,
      conversation: null,
      addressees: addresseesOf(addressee, principal),
    })
    for (const row of rows) {
      const createdBy = creators.get(row.conversation) ?? (await creatorOf(scope, row.conversation))
      creators.set(row.conversation, createdBy)
      if (addressee === 'none' && row.view.addressee !== null) continue
      if (!mayKnow(principal, { addressee: row.view.addressee, createdBy })) continue
      if (items.length === limit) return { items, nextCursor: items.at(-1)?.id ?? null }
      items.push(presentInterruption(principal, row, createdBy))
    }
    if (rows.length < chunk) return { items, nextCursor: null }
    after = rows.at(-1)?.view.id ?? null
  }
}

/** Whom a list is for: `me` is the principal as a person and in its roles. Null: everybody, and nobody in particular. */
function addresseesOf(wanted: string | undefined, { id, roles }: Scope['principal']): readonly string[] | null {
  if (wanted === undefined || wanted === 'none') return null
  if (wanted !== 'me') return [wanted]
  const person = id.startsWith('user:') ? [id.slice('user:'.length)] : []
  return [...person, ...roles.map((role) => `role:${role}`)]
}

async function creatorOf({ parts, database }: Scope, conversation: string): Promise<string> {
  return (await parts.store.getConversation(database, conversation))?.createdBy ?? ''
}

/** Answers an interruption by its id. Throws `NOT_FOUND`, `ANSWER_INVALID`. */
export async function answer(
  { parts, principal, database }: Scope,
  to: { readonly id: string; readonly kind?: InterruptionKind },
  body: unknown,
): Promise<Interruption> {
  await parts.registry.ensure(database)
  const row = await answerOne(parts, database, { ...to, answer: readAnswer(body), by: principal })
  const conversation = await parts.store.getConversation(database, row.conversation)
  return presentInterruption(principal, row, conversation?.createdBy ?? '')
}

function readAnswer(body: unknown): Answer {
  refuseTooDeep(body)
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
