/** Reads the log of a conversation as events. */
import type { Client } from '@witan/client'
import type { Event } from '@witan/protocol'

/** All stored events of a conversation, page by page. */
export async function* storedEvents(client: Client, id: string): AsyncGenerator<Event, void, undefined> {
  let from = 0
  for (;;) {
    const page = await client.conversations.events(id, { from, verbose: true })
    yield* page.events
    from = page.events.at(-1)?.seq ?? from
    if (!page.more || page.events.length === 0) return
  }
}
