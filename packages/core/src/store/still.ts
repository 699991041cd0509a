/** Whether a conversation is still as it was read, for a deletion that must not take what was appended since. */

/** What a conversation was when it was read: nothing was appended while both are the same. */
export interface ConversationState {
  readonly createdAt: number
  readonly lastSeq: number
}

/** True if it is; without a state any conversation is. */
export function isStill(now: ConversationState, as: ConversationState | undefined): boolean {
  return as === undefined || (now.createdAt === as.createdAt && now.lastSeq === as.lastSeq)
}
