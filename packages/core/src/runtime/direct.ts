/** Direct runs: a sub-agent as the root of a conversation of its own, below a parent that lists it [F40–F43]. */
import { type AgentData, type ConversationRequest, type RunRequest, WitanError } from '@witan/protocol'
import {
  conversationRequestSchema,
  directRunRequestSchema,
  markChecked,
  runRequestSchema,
} from '@witan/protocol/schemas'
import { listedEdge, subAgentNotListed } from '../agent/admin/assign.ts'
import { pinRoot, refusalError } from '../command/accept.ts'
import { startingRows } from '../conversation/participant-rows.ts'
import { parseBody, refuseMixedInput } from './body.ts'
import { filesIn, readFiles } from './prompt.ts'
import { isAdmitted, reached } from './reach.ts'
import { holdValues, holdUsers } from './repeated-values.ts'
import { mismatchError, newConversation, requireValues } from './new-conversation.ts'
import type { Scope } from './scope.ts'
import type { ConversationRow } from '../store/store.ts'
import { notFound } from '../identity/not-found.ts'
import { hasRole } from '../identity/rights.ts'
import { idOfNamed } from '../agent/registry.ts'

/** A sub-agent and its parent, each by its id or its display name, and the request body. */
interface DirectRun {
  readonly parent: string
  readonly id: string
  readonly request: unknown
}

/** The conversation of a direct run, and the body that remains to be run there. */
interface OpenedDirectRun {
  readonly conversationId: string
  readonly body: RunRequest
}

/**
 * Checks a direct run and stores its conversation, unless it names an existing one. A new conversation has the id of the
 * request, or else a fresh id [F42]. Nothing runs yet, and a refused request stores nothing.
 */
export async function openDirectRun(scope: Scope, direct: DirectRun): Promise<OpenedDirectRun> {
  const request = parseBody(directRunRequestSchema, direct.request)
  const { conversationId, parameters, users, ...rest } = request
  const body = markChecked(runRequestSchema, rest)
  refuseMixedInput(body)
  const id = await runnableSubAgent(scope, direct)
  const known = conversationId === null ? null : await findConversation(scope, conversationId)
  if (conversationId !== null && known !== null) {
    const isPlain = Object.keys(parameters).length === 0 && users === null
    if ((await reached(scope, conversationId, isPlain ? 'speak' : 'own')) === null) {
      refuseWithoutConversation(body, conversationId)
      throw notFound('conversation', conversationId, {
        path: 'conversationId',
        hint: 'Choose another id for a new one.',
      })
    }
    refuseForeign(scope, known, { agent: id, isNew: body.prompt !== undefined })
    await holdUsers(scope, known, users)
    await holdValues(scope, known, parameters)
    return { conversationId, body }
  }
  refuseWithoutConversation(body, conversationId)
  const { sent } = filesIn(body.prompt ?? '')
  if (sent !== undefined) await readFiles(scope, id, sent)
  const named = conversationId === null ? {} : { id: conversationId }
  const started = await startDirect(scope, { agent: id, parameters, users, ...named })
  return started === null
    ? openDirectRun(scope, { ...direct, request: markChecked(directRunRequestSchema, request) })
    : { conversationId: started, body }
}

/** The id of the sub-agent. Throws `NOT_FOUND` for a parent that the caller does not reach, and for what that one does not list. */
async function runnableSubAgent(scope: Scope, { parent, id }: DirectRun): Promise<string> {
  const { parts, principal, database } = scope
  const parentId = await idOfNamed(parts.registry, database, parent)
  const isReached = hasRole(principal, 'admin') || (hasRole(principal, 'run') && isAdmitted(scope, parentId))
  if (!isReached) throw notFound('agent', parent)
  const childId = await idOfNamed(parts.registry, database, id)
  await listedEdge(parts.adminOf(database, principal), parentId, { id: childId, word: id })
  if (!isAdmitted(scope, childId)) throw subAgentNotListed(parentId, id)
  return childId
}

function findConversation({ parts, database }: Scope, id: string): Promise<ConversationRow | null> {
  return parts.store.getConversation(database, id)
}

/**
 * A new conversation of the sub-agent; null if its id was taken meanwhile. No parent passes a trusted value down, so the
 * caller must supply it [E20].
 */
async function startDirect(
  scope: Scope,
  start: { agent: string; parameters: Record<string, unknown>; users: ConversationRequest['users']; id?: string },
): Promise<string | null> {
  const { parts, database } = scope
  const { row } = await newConversation(scope, conversationRequestSchema.parse(start), { direct: true })
  const stored = await parts.store.append({
    database,
    conversation: row.id,
    create: row,
    entries: [],
    ...startingRows(row),
  })
  if (!stored.ok && stored.reason === 'exists') return null
  if (!stored.ok) throw refusalError(stored.reason, row.id)
  parts.warm.drop(database, row.id) // an expired one may have had this id
  return row.id
}

/** A conversation keeps the values of its start, so a new run in it requires the trusted ones among them [E19, E20]. */
function refuseForeign({ parts }: Scope, row: ConversationRow, given: { agent: string; isNew: boolean }): void {
  const { agent, isNew } = given
  if (row.agent !== agent) throw mismatchError(row, agent, 'conversationId')
  if (!isNew) return
  const data: AgentData = pinRoot(parts, row).data
  const trusted = data.parameters.filter(({ policy }) => policy === 'forbidModelGeneration')
  requireValues(data, trusted, new Set(Object.keys(row.parameters)))
}

/** Responses and `ifLastSeq` require an existing conversation. */
function refuseWithoutConversation({ prompt, ifLastSeq }: RunRequest, id: string | null): void {
  if (prompt !== undefined && (ifLastSeq ?? 0) === 0) return
  if (id !== null)
    throw notFound('conversation', id, { path: 'conversationId', hint: 'Send a prompt to start it under that id.' })
  throw new WitanError('RUN_INPUT_INVALID', 'Responses and `ifLastSeq` need the conversation they are about.', {
    path: 'conversationId',
    hint: 'Send `conversationId`; a run without it starts a new conversation.',
  })
}
