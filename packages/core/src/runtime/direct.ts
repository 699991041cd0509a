/** Direct runs: a sub-agent as the root of a conversation of its own, below a parent that lists it [F40–F43]. */
import { type AgentData, type RunRequest, WitanError } from '@witan/protocol'
import { conversationRequestSchema, directRunRequestSchema } from '@witan/protocol/schemas'
import { listedEdge } from '../agent/desk/assign.ts'
import type { Principal } from '../identity/principal.ts'
import { pinRoot, refusalError } from '../command/accept.ts'
import { parseBody, refuseMixedInput } from './body.ts'
import { refuseStranger } from './access.ts'
import { holdGiven, holdUsers } from './given.ts'
import { mismatchError, newConversation, requireGiven } from './start.ts'
import type { Parts } from './wiring.ts'
import type { ConversationRow } from '../store/store.ts'

interface Door {
  readonly parts: Parts
  readonly principal: Principal
}

/** Which sub-agent of which parent, and the body as it came. */
export interface DirectRun {
  readonly parent: string
  readonly id: string
  readonly request: unknown
}

/** The conversation that a direct run belongs in, and what is left to run there. */
export interface OpenedDirectRun {
  readonly conversationId: string
  readonly body: RunRequest
}

/** Checks a direct run and stores its conversation where it names none. Nothing runs yet; what is refused leaves nothing behind. */
export async function openDirectRun(door: Door, { parent, id, request }: DirectRun): Promise<OpenedDirectRun> {
  const { conversationId, parameters, users, ...body } = parseBody(directRunRequestSchema, request)
  refuseMixedInput(body)
  await listedEdge(door.parts.deskOf(door.principal.database), parent, id)
  refuseStranger(door, id)
  if (conversationId !== null) {
    const row = await refuseForeign(door, { agent: id, conversationId, isNew: body.prompt !== undefined })
    holdUsers(row, users)
    await holdGiven(door, row, parameters)
    return { conversationId, body }
  }
  refuseWithoutConversation(body)
  return { conversationId: await startDirect(door, { agent: id, parameters, users }), body }
}

/** A new conversation of the sub-agent. There is no parent that could hand a trusted value down, so the caller must [E20]. */
async function startDirect(
  door: Door,
  start: { agent: string; parameters: Record<string, unknown>; users: string[] | null },
): Promise<string> {
  const { parts, principal } = door
  const { database } = principal
  const { row } = await newConversation(door, conversationRequestSchema.parse(start), { direct: true })
  const stored = await parts.store.append({ database, conversation: row.id, create: row, entries: [] })
  if (!stored.ok) throw refusalError(stored.reason, row.id)
  return row.id
}

/** A conversation keeps the values it was started with: a new run in it needs the trusted ones to be among them [E19, E20]. */
async function refuseForeign(
  { parts, principal }: Door,
  given: { agent: string; conversationId: string; isNew: boolean },
): Promise<ConversationRow> {
  const { agent, conversationId, isNew } = given
  const row: ConversationRow | null = await parts.store.getConversation(principal.database, conversationId)
  if (row === null) {
    throw new WitanError('NOT_FOUND', `There is no conversation \`${conversationId.slice(0, 200)}\`.`, {
      path: 'conversationId',
      hint: 'Leave `conversationId` out to start a new one.',
    })
  }
  if (row.agent !== agent) throw mismatchError(row, agent, 'conversationId')
  if (!isNew) return row
  const data: AgentData = pinRoot(parts, row).data
  const trusted = data.parameters.filter(({ policy }) => policy === 'forbidModelGeneration')
  requireGiven(data, trusted, new Set(Object.keys(row.parameters)))
  return row
}

function refuseWithoutConversation({ prompt, ifLastSeq }: RunRequest): void {
  if (prompt !== undefined && (ifLastSeq ?? 0) === 0) return
  throw new WitanError('RUN_INPUT_INVALID', 'Responses and `ifLastSeq` need the conversation they are about.', {
    path: 'conversationId',
    hint: 'Send `conversationId`; a run without it starts a new conversation.',
  })
}
