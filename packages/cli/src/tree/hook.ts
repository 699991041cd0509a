/** What a hook decided, as a line. */
import type { CallView } from '@witan/client'
import { cutText, oneLine } from './width.ts'

/** A piece of a line of the tree. */
interface Words {
  readonly text: string
  readonly tone: 'plain' | 'faint' | 'wait'
}

const longestReason = 200

/** `hook audit refused beforeTool: No mail to strangers.`, `hook audit rewrote afterModel`. */
export function hookSpans({ hook, point, effect, reason }: CallView['hooks'][number]): Words[] {
  const did = effect === 'rewritten' ? 'rewrote' : effect
  const about: Words = { text: `hook ${oneLine(hook)} `, tone: 'faint' }
  const what: Words = { text: `${did} ${oneLine(point)}`, tone: effect === 'rewritten' ? 'plain' : 'wait' }
  // Of a failure the reason says no more than that.
  if (reason === null || effect === 'failed') return [about, what]
  return [about, what, { text: `: ${cutText(oneLine(reason), longestReason)}`, tone: 'plain' }]
}
