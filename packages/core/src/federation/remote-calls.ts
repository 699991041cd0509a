/** Calls agents on other servers over A2A: each call is one task there, whatever happens on the way [M18, M30]. */
import { failed, type PendingOutcome, type ResultOutcome } from '../tool/outcome.ts'
import type { AbandonedCall, RemoteCall, RemoteCaller } from '../tool/remote.ts'
import { readNote } from './remote-note.ts'
import type { RemoteServices } from './remote-services.ts'
import { talk } from './remote-talk.ts'
import { requestRemote } from './transport.ts'

/** Calls the agents that edges lead to. `report` gets what breaks here while a call is stopped. */
export function createRemoteCaller(
  given: Omit<RemoteServices, 'abandon'>,
  report: (error: unknown) => void,
): RemoteCaller {
  const abandon = (of: AbandonedCall) => void stop(given, of).catch(report)
  const services: RemoteServices = { ...given, abandon }
  return {
    abandon,
    sharesBudget: given.sharesBudget,
    async call(of: RemoteCall): Promise<ResultOutcome | PendingOutcome> {
      const { edge, context } = of
      const found = await services.find(edge, context.caller.database, context.signal)
      if (!found.ok) return failed(found.code, found.detail)
      const outcome = await talk(services, of, found.endpoint)
      const { notice } = found
      if (notice === null || outcome.kind === 'pending' || outcome.notice !== undefined) return outcome
      return { ...outcome, notice }
    },
  }
}

/** How long a server is asked to stop a task. */
const patienceMs = 5_000

/** Tells the other server to stop. It may be gone, or have ended the task: neither changes anything here. */
async function stop(
  services: Omit<RemoteServices, 'abandon'>,
  { database, edge, from, note }: AbandonedCall,
): Promise<void> {
  const id = readNote(note)?.task
  if (id == null) return
  const over = new AbortController()
  const cancel = services.clock.after(patienceMs, () => over.abort(), { background: true })
  const { signal } = over
  try {
    const found = await services.find(edge, database, signal)
    if (!found.ok) return
    const message = {
      edge,
      from,
      database,
      caller: null,
      messageId: services.newId(),
      isMessage: false,
      contextId: null,
    }
    const { bearer, extensions } = await services.sign(message)
    const request = { method: 'cancel' as const, params: { id }, bearer, extensions, signal }
    for await (const _ of requestRemote(services.fetch, found.endpoint, request)) return
  } catch {
    // Nobody waits for it any more.
  } finally {
    cancel()
  }
}
