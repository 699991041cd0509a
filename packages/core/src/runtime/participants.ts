/** The people of a conversation: who takes part, who joins, and who leaves. */
import { WitanError } from '@witan/protocol'
import { looksLike } from '@witan/protocol/names'
import { type ConversationParticipant, participantRequestSchema } from '@witan/protocol/schemas'
import { refusalError } from '../command/accept.ts'
import { type Participation, participate } from '../command/participate.ts'
import type { ConversationLog } from '../conversation/log.ts'
import { notFound } from '../identity/not-found.ts'
import { personOf } from '../identity/rights.ts'
import { type Person, present } from '../parameter/person.ts'
import type { ConversationRow, ParticipantRow } from '../store/store.ts'
import { parseBody } from './body.ts'
import type { AddedParticipant, Page, PageOptions } from './contract.ts'
import { alikeError, isRepeat, peopleNamedBy, requestedPerson, refuseTakenName } from './people.ts'
import type { Scope } from './scope.ts'
import { agentsBelow } from './new-conversation.ts'
import { conversationRow } from './reach.ts'
import { rowPage } from './page.ts'

/** How many people may take part in a conversation at once. */
const mostPresent = 200
/** How many may appear in it over its whole life: each keeps a place in the order of joining. */
const mostEver = 1000

/** A page of everybody who takes part or did, in the order of the first joining. Throws `NOT_FOUND`. */
export async function listParticipants(
  scope: Scope,
  id: string,
  options: PageOptions,
): Promise<Page<ConversationParticipant>> {
  await conversationRow(scope, id)
  const { parts, database } = scope
  return rowPage(options, (page) => parts.store.listParticipants(database, id, page), {
    item: shown,
    id: ({ user }) => user,
  })
}

/**
 * Adds a person. A repeat changes nothing; one with another name or other roles is refused. Throws `NOT_FOUND`, also if the principal
 * may not add people; `NAME_TAKEN`, `BODY_INVALID`.
 */
export async function addParticipant(scope: Scope, id: string, body: unknown): Promise<AddedParticipant> {
  const request = parseBody(participantRequestSchema, body)
  const { parts, database, principal } = scope
  const row = await conversationRow(scope, id, 'own')
  await parts.registry.ensure(database)
  refuseTakenName(scope, request.id, 'id')
  const person = requestedPerson(request, namedBelow(scope, row))
  const found = await changeTo(scope, id, (log) => {
    const known = log.state.people.all.find((one) => one.id === person.id)
    if (known?.presence === 'there') {
      if (!isRepeat(request, known)) throw otherPerson(known)
      return null
    }
    refuseLookAlike(log, person)
    refuseCrowd(log)
    return { person, change: 'joined', by: principal.id }
  })
  if (found === null) await parts.store.confirmStored(database)
  const stored = found ?? (await parts.store.getParticipant(database, id, person.id))
  if (stored === null) throw notFound('participant', person.id)
  return { participant: shown(stored), created: found !== null }
}

/**
 * Removes a person. What waits for that person is cancelled. Throws `NOT_FOUND` for somebody who does not take part, and if the
 * principal may remove nobody.
 */
export async function removeParticipant(scope: Scope, id: string, user: string): Promise<void> {
  const { parts, database, principal } = scope
  await conversationRow(scope, id, personOf(principal) === user ? 'speak' : 'own')
  await parts.registry.ensure(database)
  const joined = await parts.store.getParticipant(database, id, user)
  await changeTo(scope, id, ({ state }) => {
    const person = present(state.people).find((one) => one.id === user)
    if (person === undefined) throw notFound('participant', user)
    return { person, change: 'left', by: principal.id, ...(joined === null ? {} : { joinedAt: joined.joinedAt }) }
  })
}

const mostTries = 50

/** Stores the change that `choose` wants for the conversation as it is; null if it wants none. Another writer makes it choose again. */
async function changeTo(
  { parts, database }: Scope,
  id: string,
  choose: (log: ConversationLog) => Participation | null,
): Promise<ParticipantRow | null> {
  for (let tries = 0; tries < mostTries; tries += 1) {
    const log = await parts.warm.latest(database, id)
    const change = choose(log)
    if (change === null) return null
    const stored = await participate(parts, log, change)
    if (stored !== null) return stored
  }
  throw refusalError('conflict', id)
}

/** The people whom the agents below a conversation's root name. */
function namedBelow({ parts, database }: Scope, { agent }: ConversationRow): readonly Person[] {
  const root = parts.registry.current(database).agents.get(agent)?.data
  return root === undefined ? [] : peopleNamedBy(agentsBelow(parts, database, root))
}

function otherPerson({ id }: Person): WitanError {
  return new WitanError('NAME_TAKEN', `\`${id}\` takes part already, with another name or other roles.`, {
    path: 'id',
    hint: 'Leave out `name` and `roles`, or remove the person first.',
  })
}

/** Two people of one conversation whose ids look alike would speak in each other's name. */
function refuseLookAlike({ state: { people } }: ConversationLog, { id }: Person): void {
  const looks = looksLike(id)
  const other = present(people).find((one) => one.id !== id && [...looksLike(one.id)].some((name) => looks.has(name)))
  if (other !== undefined) throw alikeError(id, other.id, 'id')
}

function refuseCrowd({ state: { people } }: ConversationLog): void {
  const isFull = present(people).length >= mostPresent
  if (!isFull && people.all.length < mostEver) return
  const limit = isFull ? `${mostPresent} people take part at once` : `${mostEver} people take part over its whole life`
  throw new WitanError('BODY_INVALID', `At most ${limit} in one conversation.`, {
    path: 'id',
    hint: 'Remove somebody, or start another conversation.',
  })
}

function shown({ user, name, roles, joinedAt, leftAt }: ParticipantRow): ConversationParticipant {
  const left = leftAt === null ? null : new Date(leftAt).toISOString()
  return { id: user, name, roles: [...roles], joinedAt: new Date(joinedAt).toISOString(), leftAt: left }
}
