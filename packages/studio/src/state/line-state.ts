/** Lines of a list of conversations: their order and their states. */
import type { CallState } from '@witan/client'
import type { ConversationLine } from '@witan/protocol'

/** A state with its words; null where there is nothing to say. */
interface LineState {
  readonly state: CallState
  readonly words: string
}

/** `waits`: how many things in it wait for the reader. They may be in its background, while no run of it is live. */
export function lineState(
  { status, lastRun }: Pick<ConversationLine, 'status' | 'lastRun'>,
  waits: number,
): LineState | null {
  if (waits > 0) return { state: 'waiting', words: 'waits for you' }
  if (status === 'waiting') return { state: 'waiting', words: 'waits for somebody' }
  if (status === 'running') return { state: 'running', words: 'running' }
  if (lastRun?.status === 'failed') return { state: 'failed', words: 'failed' }
  return null
}

/** Those first in which something was said last; the server lists them by when they began. */
export function latestFirst<Line extends Pick<ConversationLine, 'lastMessageAt'>>(lines: readonly Line[]): Line[] {
  return lines.toSorted((one, other) => Date.parse(other.lastMessageAt) - Date.parse(one.lastMessageAt))
}
