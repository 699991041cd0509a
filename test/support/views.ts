/** All that a reader can get of a conversation. */
import type { Runtime } from '@witan/core'
import { allEvents } from './stage.ts'

/** Every view of the conversation as text, by its name. */
export async function viewsOf(runtime: Runtime): Promise<ReadonlyMap<string, string>> {
  const views = new Map<string, string>()
  const keep = (name: string, view: unknown) => views.set(name, JSON.stringify(view))
  const events = await allEvents(runtime, 'chats/1')
  keep('verbose', events)
  keep('terse', await allEvents(runtime, 'chats/1', { verbose: false }))
  for (const { callId } of events.filter(({ type }) => type === 'start').slice(0, 5))
    keep(`below ${callId}`, await allEvents(runtime, 'chats/1', { call: callId }))
  for (const path of new Set(events.map(({ document }) => document)))
    for (const detail of ['simple', 'detailed', 'full'] as const)
      keep(`${path} ${detail}`, await runtime.getDocument(path, { detail, limit: 200 }))
  for (const run of new Set(events.map(({ rootCallId }) => rootCallId))) keep(run, await runtime.getRun(run))
  keep('conversation', await runtime.getConversation('chats/1'))
  return views
}
