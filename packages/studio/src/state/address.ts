/** Ids in the Studio's URLs: the `/` of a conversation id is written `:`, which no id contains. */

/** `chats/01J…` → `chats:01J…`. */
export function toSegment(conversationId: string): string {
  return conversationId.replace('/', ':')
}

/** `chats:01J…` → `chats/01J…`. */
export function fromSegment(segment: string): string {
  return segment.replace(':', '/')
}

/** Where the content of a file is read, with the cookie of this page. */
export function fileAddress(conversationId: string, digest: string): string {
  return `/api/v1/conversations/${conversationId.split('/').map(encodeURIComponent).join(':')}/files/${digest}`
}
