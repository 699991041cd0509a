/** An ingest followed to its end, over any number of connections. */
import type { Ingest } from '@witan/protocol/knowledge'
import { opened, openFrames } from './events.ts'
import { backoffMs } from './timing.ts'
import { isUnreachable, maxTries, parseReply, type Transport } from './transport.ts'

/**
 * Yields the ingest at `path` now and after each change, until it is completed. A lost connection is made again after a growing pause, without a
 * limit once there was one; the first fails after three tries. Ends on abort.
 */
export async function* followIngest(
  transport: Transport,
  path: string,
  given: AbortSignal | undefined,
): AsyncGenerator<Ingest, void, undefined> {
  const signal = transport.untilClosed(given)
  let connected = false
  let failures = 0
  while (!signal.aborted) {
    try {
      for await (const frame of openFrames(transport, { method: 'GET', path, request: { signal } })) {
        connected = true
        if (frame === opened) continue
        failures = 0
        const ingest = parseReply(transport.address(path), frame.data) as Ingest
        yield ingest
        if (ingest.status === 'completed') return
      }
    } catch (error) {
      if (signal.aborted) return
      if (!isUnreachable(error) || (!connected && failures === maxTries - 1)) throw error
    }
    failures += 1
    await transport.timing.pause(backoffMs(transport.timing, failures), signal).catch(() => {})
  }
}
