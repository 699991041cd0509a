/** The events of a conversation: followed as a stream, or read as a page. */
import { WitanError } from '@witan/protocol'
import { eventPageSchema } from '@witan/protocol/schemas'
import { z } from 'zod'
import { wantsStream } from '../accept.ts'
import { conversationId, defineRoute, type Route } from '../route.ts'
import { type EncodedFrame, eventFrame, lastFrame } from '../event-frame.ts'
import { given } from './paging.ts'

const eventQuery = z.strictObject({
  verbose: z
    .boolean()
    .default(false)
    .meta({ description: 'Everything, or the root’s own events and interruptions only.' }),
  call: z.string().max(200).optional().meta({ description: 'Only this call and the calls below it.' }),
  branch: z
    .string()
    .max(1000)
    .optional()
    .meta({ description: 'Only what is below this branch of a parallel, such as `panel.0` or `panel.0/inner.1`.' }),
  from: z.number().int().min(0).optional().meta({ description: 'After this seq. `Last-Event-ID` goes before it.' }),
  limit: z.number().int().min(1).max(1000).optional().meta({ description: 'The most events of a JSON page.' }),
})

/** The one route to the log. */
export const eventRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path: '/api/v1/conversations/{id}/events',
    name: 'followEvents',
    tag: 'events',
    summary:
      'Events after a seq: stored ones and then live ones as server-sent events; with `Accept: application/json` one page of stored ones.',
    query: eventQuery,
    answers: { 200: { schema: eventPageSchema, description: 'A page of stored events.', stream: true } },
    handle: async (call) => {
      const { limit, ...rest } = call.query
      const id = conversationId(call)
      const filter = { ...given(rest), from: lastEventId(call.headers) ?? rest.from ?? 0 }
      if (!wantsStream(call.headers, 'stream')) {
        return { status: 200, body: await call.witan.readEvents(id, given({ ...filter, limit })) }
      }
      await call.witan.readEvents(id, { ...filter, limit: 1 }) // a stream that has begun can no longer answer with an error status
      return { frames: (signal) => frames(call.witan.followEvents(id, { ...filter, signal })) }
    },
  }),
]

async function* frames(
  events: ReturnType<Parameters<Route['handle']>[0]['witan']['followEvents']>,
): AsyncGenerator<EncodedFrame | string> {
  try {
    for await (const event of events) yield eventFrame(event)
  } catch (error) {
    const last = lastFrame(error)
    if (last === null) throw error
    yield last
  }
}

function lastEventId(headers: Headers): number | null {
  const given = headers.get('last-event-id')
  if (given === null || given === '') return null
  if (/^\d{1,15}$/.test(given)) return Number(given)
  throw new WitanError(
    'EVENT_ID_INVALID',
    `\`Last-Event-ID\` must be a whole number from 0, got \`${given.slice(0, 40)}\`.`,
    {
      path: 'Last-Event-ID',
      hint: 'Send the id of the last event you have seen, or leave it out.',
    },
  )
}
