/** Drops inactive conversations from the store in memory, beyond a number or an age, the oldest first. */
import { WitanError } from '@witan/protocol'
import { notifyAll } from './memory-listen.ts'
import { joinLine, type Kept, leaveLine, type Memory, removeConversation, type RestLimits } from './memory-tables.ts'

/** A thousand three-level runs take 14 MB; replies are also remembered for a day. */
const defaults: RestLimits = { maxResting: 1000, maxRestingMs: 86_400_000 }

/** Checks the limits. Throws `CONFIG_INVALID`. */
export function restLimits(given: Partial<RestLimits>): RestLimits {
  const { maxResting = defaults.maxResting, maxRestingMs = defaults.maxRestingMs } = given
  const isNumber = Number.isSafeInteger(maxResting) || maxResting === Number.POSITIVE_INFINITY
  if (!isNumber || maxResting < 1)
    throw invalid('maxResting', 'a whole number of conversations from 1, or `Infinity`', defaults.maxResting)
  if (typeof maxRestingMs !== 'number' || !(maxRestingMs > 0))
    throw invalid('maxRestingMs', 'a time in ms above 0, or `Infinity`', defaults.maxRestingMs)
  return { maxResting, maxRestingMs }
}

function invalid(path: keyof RestLimits, allowed: string, usual: number): WitanError {
  return new WitanError('CONFIG_INVALID', `\`${path}\` must be ${allowed}.`, {
    path,
    hint: `Leave it out for ${usual}.`,
  })
}

/**
 * Updates the position of a conversation in the queue after a write, and drops the excess. A conversation is inactive while it has
 * no live job and no open interruption. The cost does not depend on the number of conversations.
 */
export function noteRest(memory: Memory, kept: Kept): void {
  const rests = kept.live.length === 0 && (kept.open === null || kept.open.size === 0)
  if (!rests && kept.rest === null) return
  leaveLine(memory, kept)
  if (!rests) return
  const now = memory.now()
  joinLine(memory, kept, now)
  for (let one = excess(memory, now); one !== null; one = excess(memory, now)) drop(memory, one)
}

/** The longest inactive conversation, if there are too many or it has been inactive too long. */
function excess({ limits, resting }: Memory, now: number): Kept | null {
  const { count, oldest } = resting
  if (oldest === null) return null
  return count > limits.maxResting || now - oldest.since > limits.maxRestingMs ? oldest.kept : null
}

/** Conversations that have been inactive too long, at most `limit`, the oldest first. */
export function restedTooLong({ limits, resting, now }: Memory, limit: number): readonly Kept[] {
  const found: Kept[] = []
  const before = now() - limits.maxRestingMs
  for (let one = resting.oldest; one !== null && one.since < before; one = one.newer) {
    if (found.length >= limit) break
    found.push(one.kept)
  }
  return found
}

/** Notifies the store's own listeners too, since no caller asked for it. */
function drop(memory: Memory, kept: Kept): void {
  const { database, id: conversation } = kept.row
  removeConversation(memory, kept)
  notifyAll(memory, (listener) => listener.gone({ database, conversation }))
}
