/** Ids in the Studio's URLs: the `/` of a conversation id is written `:`, which no id contains. */

/** `chats/01J…` → `chats:01J…`. */
export function toSegment(conversationId: string): string {
  return conversationId.replace('/', ':')
}

/** `chats:01J…` → `chats/01J…`. */
export function fromSegment(segment: string): string {
  return segment.replace(':', '/')
}
