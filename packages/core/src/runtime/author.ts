/** Who speaks in a conversation: the principal itself, or a person for whom an admin speaks. */
import { WitanError } from '@witan/protocol'
import { participantRequestSchema } from '@witan/protocol/schemas'
import { takenByOthers } from '../agent/people-names.ts'
import type { Message } from '../command/accept.ts'
import { notFound } from '../identity/not-found.ts'
import { localPrincipal } from '../identity/principal.ts'
import { present } from '../parameter/person.ts'
import type { Scope } from './scope.ts'

/** The author of a message. */
type Author = Pick<Message, 'author'>

/**
 * The principal as an author: `user:anna` speaks as `anna`. Every other principal speaks as `user`, and so does one whose name no
 * person can have, such as that of an agent or one that looks like it: it would speak in another's name.
 */
export function selfOf({ principal, parts, database }: Scope): Author {
  const { id } = principal
  if (!id.startsWith('user:') || id === localPrincipal.id) return {}
  const author = id.slice('user:'.length)
  const isTaken = takenByOthers(author, parts.registry.current(database).agents) !== null
  return isTaken || !participantRequestSchema.shape.id.safeParse(author).success ? {} : { author }
}

/**
 * The author that a request names; null for the principal itself. Another one needs the role `admin`, else the conversation is
 * missing. Throws `NOT_FOUND`, `USER_UNKNOWN`.
 */
export async function authorOf(scope: Scope, conversation: string, wanted: string | null): Promise<Author> {
  const self = selfOf(scope)
  if (wanted === null || wanted === (self.author ?? 'user')) return self
  if (!scope.principal.roles.includes('admin')) throw notFound('conversation', conversation)
  const { state } = await scope.parts.warm.latest(scope.database, conversation)
  const people = present(state.people)
  if (people.some(({ id }) => id === wanted)) return { author: wanted }
  const list = people.length === 0 ? 'Nobody does.' : `Those who do: ${people.map(({ id }) => id).join(', ')}.`
  throw new WitanError('USER_UNKNOWN', `\`${wanted.slice(0, 100)}\` does not take part in this conversation. ${list}`, {
    path: 'author',
    hint: 'Add the person first, or leave `author` out.',
  })
}
