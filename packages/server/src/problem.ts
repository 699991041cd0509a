/** Errors as `application/problem+json` (RFC 9457): every one names its request and says what to do next. */
import { type ErrorCode, errorTable, isWitanError, toProblem, WitanError } from '@witan/protocol'
import type { Log } from './log.ts'

const hints: Partial<Record<ErrorCode, string>> = {
  ACTIONS_PENDING: 'Answer the open actions, or send `cancelPendingActions: true`.',
  ACTION_NOT_FOUND: 'Read the open interruptions of the conversation and use their ids.',
  AGENT_DISABLED: 'Set `disabled: false` on the agent.',
  AGENT_EXISTS: 'Use PUT to change it.',
  AGENT_REFERENCED: 'Unassign it there first, or delete with `?force=true`.',
  ALREADY_ANSWERED: 'Only an identical repeat by the same principal is accepted.',
  CONVERSATION_AGENT_MISMATCH: 'Use another conversation id, or the agent that the conversation belongs to.',
  EVENT_ID_AHEAD: 'Read the conversation for its `lastSeq` and follow from there.',
  EVENT_ID_INVALID: 'Send the `id` of an SSE frame: a whole number from 0.',
  IDEMPOTENCY_KEY_REUSED: 'Use a new key for a new request.',
  INTERNAL: 'Find the request id in the log of the server.',
  IN_PROGRESS: 'Wait a second and send the same request again.',
  METHOD_NOT_ALLOWED: 'The `Allow` header lists the methods.',
  NOT_FOUND: 'Check the id; a list shows what there is.',
  PARAM_MISSING: 'Give it under `parameters`.',
  PARAM_UNKNOWN: 'Use a name that an agent of the hierarchy declares.',
  QUESTION_EXPIRED: 'Start the run again.',
  REVISION_MISMATCH: 'Read it again and apply the change to what is there now.',
  RUN_ACTIVE: 'Send `onActive` `enqueue` or `interrupt`, or wait.',
  RUN_FINISHED: 'Read the run; it cannot be changed any more.',
  STORE_UNAVAILABLE: 'Send the same request again a little later.',
}

/** The error for a path where there is nothing, or nothing that the caller reaches. */
export function nothingAt(path: string): WitanError {
  const shown = path.slice(0, 200).replace(/[^\w./:%~-]/g, '?')
  const hint = 'GET /api/v1/openapi.json lists what there is, and the roles that reach it.'
  return new WitanError('NOT_FOUND', `There is nothing at \`${shown}\`.`, { hint })
}

/** What a failed request is answered with. Errors of ours keep their words; any other is `INTERNAL`, its text only in the log. */
export function problemReply(
  error: unknown,
  requestId: string,
  log: Log,
): { readonly status: number; readonly body: string; readonly headers: Record<string, string> } {
  const problem = toProblem(error)
  const { status, retryable } = errorTable[problem.code]
  if (!isWitanError(error) || problem.code === 'INTERNAL') log('error', 'a request failed', { requestId, error })
  const hint = problem.hint ?? hints[problem.code] ?? `See ${problem.type}`
  const headers: Record<string, string> = { 'content-type': 'application/problem+json' }
  if (retryable) headers['retry-after'] = '1'
  const later = isWitanError(error) ? error.details.retryAfterSeconds : undefined
  if (typeof later === 'number') headers['retry-after'] = String(later)
  if (problem.code === 'UNAUTHENTICATED') {
    const realm = isWitanError(error) ? error.details.realm : undefined
    headers['www-authenticate'] = typeof realm === 'string' ? `Bearer realm="${realm}"` : 'Bearer'
  }
  const allow = isWitanError(error) ? error.details.allow : undefined
  if (typeof allow === 'string') headers.allow = allow
  return { status, body: JSON.stringify({ ...problem, hint, requestId, ...membersOf(error) }), headers }
}

/** What an error has beside its words: what is there instead of what was expected. */
function membersOf(error: unknown): { readonly current?: unknown } {
  return isWitanError(error) && error.code === 'MEMORY_CONFLICT' ? { current: error.details.current ?? null } : {}
}
