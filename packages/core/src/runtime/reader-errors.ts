/** Errors as one principal reads them: a provider's words are for who may read everything. */
import type { Event, RunResult, Task } from '@witan/protocol'
import { withoutProviderWords } from '@witan/protocol/entries'
import type { Principal } from '../identity/principal.ts'
import { readsAll } from '../identity/rights.ts'

/** An event for a reader. Most are the same for all, and stay the same object. */
export function eventFor(principal: Principal, event: Event): Event {
  if ((event.type !== 'error' && event.type !== 'notice') || readsAll(principal)) return event
  const content = withoutProviderWords(event.content)
  return content === event.content ? event : ({ ...event, content } as Event)
}

/** A result of a run, or a task, for a reader. */
export function errorFor<One extends Pick<RunResult | Task, 'error'>>(principal: Principal, one: One): One {
  if (one.error === null || readsAll(principal)) return one
  const error = withoutProviderWords(one.error)
  return error === one.error ? one : { ...one, error }
}
