/** The people of a conversation, over HTTP. */
import type { ConversationParticipant, ParticipantRequest } from '@witan/protocol/schemas'
import { eachItem, type Page, type PageQuery } from './page.ts'
import { conversationSegment, segment, type Transport } from './transport.ts'

/** Who takes part in conversations. */
export interface Participants {
  /** One page of everybody who takes part or did, in the order of joining. */
  list(conversationId: string, query?: PageQuery): Promise<Page<ConversationParticipant>>
  /** Everybody, page after page. */
  all(conversationId: string, query?: PageQuery): AsyncGenerator<ConversationParticipant, void, undefined>
  /** Adds a person; a repeat changes nothing, and one with another name or other roles gives `NAME_TAKEN`. */
  add(conversationId: string, person: ParticipantRequest): Promise<ConversationParticipant>
  /** Removes a person; what waits for that person is cancelled. */
  remove(conversationId: string, user: string): Promise<void>
}

/** The participant calls over one transport. */
export function participantCalls(transport: Transport): Participants {
  const at = (id: string) => `/api/v1/conversations/${conversationSegment(id)}/participants`
  const list = (id: string, query: PageQuery = {}): Promise<Page<ConversationParticipant>> =>
    transport.json('GET', at(id), { query: { ...query } })
  return {
    list,
    all: (id, query = {}) => eachItem((page) => list(id, { ...query, ...page }), query),
    add: (id, person) => transport.json('POST', at(id), { body: person }),
    remove: (id, user) => transport.json('DELETE', `${at(id)}/${segment(user)}`),
  }
}
