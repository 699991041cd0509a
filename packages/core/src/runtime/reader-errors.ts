/** What one principal reads of entries that repeat a model's server: its words are for who may read everything. */
import type { Event, RunResult, Task } from '@witan/protocol'
import { type Entry, withoutProviderWords } from '@witan/protocol/entries'
import { frozen } from '../identity/frozen.ts'
import type { Principal } from '../identity/principal.ts'
import { readsAll } from '../identity/rights.ts'

/** The event of an entry for a reader. Most are the same for all, and stay the same object. */
export function eventFor(principal: Principal, event: Event, entry: Entry): Event {
  return readsAll(principal) ? withModelsText(event, entry) : withPlainError(event)
}

function withPlainError(event: Event): Event {
  if (event.type !== 'error' && event.type !== 'notice') return event
  const content = withoutProviderWords(event.content)
  return content === event.content ? event : ({ ...event, content } as Event)
}

/** A text or a result as a model reads it. */
function withModelsText(event: Event, entry: Entry): Event {
  if (!('forModel' in entry.body)) return event
  const { forModel } = entry.body
  const read = entry.type === 'message' ? { text: forModel } : { result: frozen(forModel) }
  return { ...event, content: { ...event.content, ...read } } as Event
}

/** A result of a run, or a task, for a reader. */
export function errorFor<One extends Pick<RunResult | Task, 'error'>>(principal: Principal, one: One): One {
  if (one.error === null || readsAll(principal)) return one
  const error = withoutProviderWords(one.error)
  return error === one.error ? one : { ...one, error }
}
