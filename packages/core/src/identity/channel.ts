/** The name of a conversation within one process. */

/** The key of a conversation's readers, warm fold and live text. Ids contain no line breaks. */
export function channelOf(database: string, conversation: string): string {
  return `${database}\n${conversation}`
}

/** The conversation with this name. */
export function placeOf(channel: string): { readonly database: string; readonly conversation: string } {
  const end = channel.indexOf('\n')
  return { database: channel.slice(0, end), conversation: channel.slice(end + 1) }
}
