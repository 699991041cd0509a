/** The figures of this process for one principal's database. */
import { WitanError } from '@witan/protocol'
import { placeOf } from '../identity/channel.ts'
import type { Scope } from './scope.ts'

/** The most open interruptions that are counted. */
const mostCounted = 10_000

/** The figures as text. Throws `NOT_FOUND` if they are off, or the principal may not read them. */
export async function readMetrics({ parts, principal, database }: Scope): Promise<string> {
  const { metrics, telemetry, hub, store } = parts
  const mayRead = principal.roles.some((role) => role === 'admin' || role === 'read')
  if (metrics === null || !mayRead) throw new WitanError('NOT_FOUND', 'There is nothing at `/metrics`.')
  const channels = [...hub.channels].filter(([channel]) => placeOf(channel).database === database)
  return metrics.text(database, {
    ...(telemetry?.counts() ?? { queued: 0, dropped: 0 }),
    eventReaders: channels.reduce((sum, [, { readers }]) => sum + readers.size, 0),
    openInterruptions: await store.countOpenInterruptions(database, mostCounted),
  })
}
