/** What one principal reaches: conversations, runs, tasks and agents. What it does not reach gets the error of what does not exist [R11, R45]. */
import { mayCall } from '../identity/agent-access.ts'
import { notFound } from '../identity/not-found.ts'
import { type Deed, hasRole, mayDo, readsAll } from '../identity/rights.ts'
import { pageStart } from '../store/cursor.ts'
import { involvementOf } from '../store/involvement.ts'
import type { ConversationRow, JobKind, JobRow } from '../store/store.ts'
import type { PageOptions } from './page.ts'
import type { Scope } from './scope.ts'

/** A conversation, if the principal may do this with it. Null if it does not exist, or the principal may not. */
export async function reached(
  { parts, principal, database }: Scope,
  id: string,
  deed: Deed,
): Promise<ConversationRow | null> {
  const row = await parts.store.getConversation(database, id)
  if (row === null) return null
  return (await mayDoTo({ parts, principal }, row, deed)) ? row : null
}

/** Whether the principal may do this with a conversation. A creator costs no read of its people. */
async function mayDoTo(
  { parts, principal }: Pick<Scope, 'parts' | 'principal'>,
  row: ConversationRow,
  deed: Deed,
): Promise<boolean> {
  if (mayDo(principal, deed, { isCreator: principal.id === row.createdBy, takesPart: false })) return true
  return mayDo(principal, deed, await involvementOf(parts.store, principal, row))
}

/** The row of a conversation with which the principal may do this. Throws `NOT_FOUND`. */
export async function conversationRow(scope: Scope, id: string, deed: Deed = 'read'): Promise<ConversationRow> {
  const row = await reached(scope, id, deed)
  if (row === null) throw notFound('conversation', id)
  return row
}

/** Refuses a principal that may not do this with the conversation. An `admin` costs no read: then what follows finds out whether it exists. */
export async function refuseUnreached(scope: Scope, id: string, deed: Deed): Promise<void> {
  if (!hasRole(scope.principal, 'admin')) await conversationRow(scope, id, deed)
}

/**
 * Refuses the result of a run to somebody who spoke in its conversation and left it before the end. Who wants it of a conversation that is
 * gone gets it. Throws `NOT_FOUND`; the request has had its effect all the same.
 */
export async function refuseWhoLeft(
  { parts, principal, database }: Scope,
  { runId, conversationId }: { readonly runId: string; readonly conversationId: string },
): Promise<void> {
  if (readsAll(principal)) return
  const row = await parts.store.getConversation(database, conversationId)
  if (row === null || (await mayDoTo({ parts, principal }, row, 'read'))) return
  throw notFound('run', runId, { details: { outcome: 'unknown' } })
}

/** The job of a run or a task, if the principal may do this with its conversation. Throws `NOT_FOUND`. */
export async function jobRow(scope: Scope, id: string, { kind, deed }: { kind: JobKind; deed: Deed }): Promise<JobRow> {
  const job = await scope.parts.store.getJob(scope.database, id)
  if (job?.kind !== kind || (await reached(scope, job.conversation, deed)) === null) throw notFound(kind, id)
  return job
}

/** Refuses a cursor that is the id of something that the principal does not reach, as if its row were gone. Throws `BODY_INVALID`. */
export async function refuseForeignCursor(
  { principal }: Scope,
  { cursor = null }: PageOptions,
  isReached: (id: string) => Promise<boolean>,
): Promise<void> {
  if (cursor !== null && !readsAll(principal) && !(await isReached(cursor))) pageStart(null)
}

/** True if the agent's `access` admits the principal, or there is no such agent. Delegation never asks this. */
export function isAdmitted({ parts, principal, database }: Scope, agent: string): boolean {
  const data = parts.registry.current(database).agents.get(agent)?.data
  return data === undefined || mayCall(data.access, principal)
}

/**
 * Refuses a principal that may start no conversations, or that the agent's `access` excludes, with the error for an agent that does
 * not exist. `word`: what the caller wrote for the agent [E10].
 */
export function refuseStarting(scope: Scope, agent: string, word = agent): void {
  const mayStart = hasRole(scope.principal, 'run', 'admin')
  if (!mayStart || !isAdmitted(scope, agent)) throw notFound('agent', word, { path: 'agent' })
}
