/** The name of a conversation within one process. */

/** Under which name the readers, the warm fold and the live text of a conversation are kept: ids hold no line breaks. */
export function channelOf(database: string, conversation: string): string {
  return `${database}\n${conversation}`
}
