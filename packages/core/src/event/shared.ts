/** Caches live events: each is made once, and all readers in this process get the same frozen object. */
import type { Event } from '@witan/protocol'
import type { Entry } from '@witan/protocol/entries'
import type { Delta } from './live.ts'
import { type LogPlace, toDeltaEvent, toEvent } from './project.ts'

const made = new WeakMap<Entry | Delta, Event>()

/** The event of an entry or a delta from the hub. It is the same for all readers; the caller checks their access. */
export function liveEvent(item: Entry | Delta, of: LogPlace): Event {
  const { conversation: conversationId } = of
  const known = made.get(item)
  // An entry may also be in the log of a fork.
  if (known?.conversationId === conversationId) return known
  const event = 'attempt' in item ? toDeltaEvent(item, conversationId, item.whole === true) : toEvent(item, of)
  Object.freeze(event.content)
  made.set(item, Object.freeze(event))
  return event
}
