/** Forks: a new conversation copies another one's log up to some seq, and continues independently [Rb55]. */
import { type Conversation, WitanError } from '@witan/protocol'
import type { Entry } from '@witan/protocol/entries'
import { forkRequestSchema } from '@witan/protocol/schemas'
import { copyLog, movedEntry } from '../conversation/copy-log.ts'
import { rowsAfter } from '../conversation/participant-rows.ts'
import { parametersUpTo } from '../conversation/stored-values.ts'
import { entriesOf } from '../conversation/warm-conversations.ts'
import { refusalError } from '../command/accept.ts'
import { parseBody } from './body.ts'
import { isTurnSpent, nextTurn } from '../identity/turn.ts'
import type { NoteOption } from './contract.ts'
import { foreignIdError, wholeId } from './new-conversation.ts'
import { conversationRow, reached } from './reach.ts'
import { getConversation } from './views.ts'
import type { Scope } from './scope.ts'
import type { ConversationRow } from '../store/store.ts'
import type { ContentUse } from '../store/stored-content.ts'

/**
 * Copies the log of `from` over all documents. The copied runs are history: the fork has no rows for them, so they cannot
 * be read as runs, answered or cancelled there. The fork keeps the values and the expiry of the original. Throws
 * `NOT_FOUND`, also for an `id` that somebody else's conversation has; `EVENT_ID_AHEAD`, `FORK_OPEN_CALLS`, `NAME_TAKEN`, `IN_PROGRESS`.
 */
export async function forkConversation(
  scope: Scope,
  from: string,
  { request, note }: NoteOption & { readonly request: unknown },
): Promise<Conversation> {
  const { parts, principal, database } = scope
  const { seq, id: wanted } = parseBody(forkRequestSchema, request)
  const original = await conversationRow(scope, from, 'own')
  if (seq > original.lastSeq) throw aheadError(seq, original.lastSeq)
  const { entries, lastLegalSeq } = await copyLog(entriesOf(parts.store, { database, conversation: from }), seq)
  if (lastLegalSeq !== seq) throw openCallsError(seq, lastLegalSeq)
  const at = parts.env.clock.now()
  const id = wholeId(wanted ?? `${from.split('/')[0]}/`, { fresh: () => parts.env.ids.conversation(at) })
  const lastMessageAt = entries.findLast(({ type }) => type === 'message')?.at ?? at
  const parameters = parametersUpTo(original.parameters, seq)
  const row = { ...original, id, parameters, createdBy: principal.id }
  const create: ConversationRow = { ...row, createdAt: at, lastMessageAt, lastSeq: 0 }
  const copies: Entry[] = []
  const files = new Map<string, ContentUse>()
  for (const entry of entries) {
    if (isTurnSpent()) await nextTurn()
    copies.push(movedEntry(entry, from, id))
    for (const use of contentsIn(entry)) if (!files.has(use.digest)) files.set(use.digest, use)
  }
  const held = note === undefined ? {} : { note: { ...note, text: id } }
  const contents = files.size === 0 ? {} : { contents: [...files.values()] }
  const people = rowsAfter(original, entries)
  const participants = people.length === 0 ? {} : { participants: people }
  const more = { ...held, ...contents, ...participants }
  const stored = await parts.store.append({ database, conversation: id, create, entries: copies, ...more })
  if (!stored.ok) throw stored.reason === 'exists' ? await takenError(scope, id) : refusalError(stored.reason, id)
  await parts.store.copyBlocks(database, from, id, () => `m${parts.env.ids.call().slice(1)}`)
  parts.warm.drop(database, id) // an expired one may have had this id
  return getConversation(scope, id)
}

/** The content that an entry refers to. */
function contentsIn({ type, body }: Entry): readonly ContentUse[] {
  if (type === 'message') return body.files ?? []
  return type === 'artifact' ? [body] : []
}

function aheadError(seq: number, lastSeq: number): WitanError {
  return new WitanError('EVENT_ID_AHEAD', `Event ${seq} does not exist yet; the last is ${lastSeq}.`, {
    path: 'seq',
    hint: 'Fork at the end of a run that has ended.',
  })
}

function openCallsError(seq: number, lastLegalSeq: number): WitanError {
  return new WitanError('FORK_OPEN_CALLS', `At seq ${seq} a call is open; the last legal seq is ${lastLegalSeq}.`, {
    path: 'seq',
    hint: `Fork at ${lastLegalSeq}, or wait until the run has ended.`,
    details: { lastLegalSeq },
  })
}

/** The error for an id that is taken: of a conversation that the principal does not reach it says no more than a start does. */
async function takenError(scope: Scope, id: string): Promise<WitanError> {
  if ((await reached(scope, id, 'read')) === null) return foreignIdError(id, 'id')
  return new WitanError('NAME_TAKEN', `Conversation \`${id}\` exists already.`, {
    path: 'id',
    hint: 'Omit `id`, or choose another.',
  })
}
