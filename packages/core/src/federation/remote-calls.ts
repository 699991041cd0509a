/** Calls agents on other servers over A2A: each call is one task there, whatever happens on the way [M18, M30]. */
import { remoteOf } from '../agent/remote-agent.ts'
import { failed, type PendingOutcome, type ResultOutcome } from '../tool/outcome.ts'
import type { AbandonedCall, RemoteCall, RemoteCaller } from '../tool/remote.ts'
import { readNote } from './remote-note.ts'
import { isBusy } from './remote-retries.ts'
import { type RemoteServices, stopMs } from './remote-services.ts'
import { talk } from './remote-talk.ts'
import { requestRemote, UnreachableError } from './transport.ts'

/** What a caller is made from. */
type Given = Omit<RemoteServices, 'abandon' | 'begun'>

/** Calls the agents that edges lead to. `report` gets what breaks here while a call is stopped. */
export function createRemoteCaller(given: Given, report: (error: unknown) => void): RemoteCaller {
  const begun: RemoteServices['begun'] = new Map()
  const abandon = (of: AbandonedCall) => void stop({ ...given, begun }, of).catch(report)
  const services: RemoteServices = { ...given, abandon, begun }
  const isFirst = createMemory()
  return {
    abandon,
    sharesBudget: given.sharesBudget,
    async call(of: RemoteCall): Promise<ResultOutcome | PendingOutcome> {
      const { edge, context } = of
      const found = await services.find(edge, context.caller.database, context.signal)
      if (!found.ok) return failed(found.code, found.detail)
      const outcome = await talk(services, of, found.endpoint)
      const { notice } = found
      if (notice === null || outcome.kind === 'pending') return outcome
      const isNew = isFirst(`${of.body.run} ${remoteOf(edge)}`)
      return isNew ? { ...outcome, notices: [notice, ...(outcome.notices ?? [])] } : outcome
    },
  }
}

/** The most words that are remembered. */
const mostWords = 1_000

/** Says of words whether they are new. The oldest are forgotten. */
function createMemory(): (words: string) => boolean {
  const known = new Set<string>()
  return (words) => {
    if (known.has(words)) return false
    known.add(words)
    const [oldest = ''] = known
    if (known.size > mostWords) known.delete(oldest)
    return true
  }
}

/** Before the second and the third try to stop a task. */
const pausesMs = [500, 1_500]

/** Tells the other server to stop. It may be gone, or have ended the task: neither changes anything here. */
async function stop(services: Omit<RemoteServices, 'abandon'>, of: AbandonedCall): Promise<void> {
  const { clock, begun } = services
  const id = readNote(of.note)?.task ?? (await begun.get(of.callId)) ?? null
  if (id === null) return
  const over = new AbortController()
  const cancel = clock.after(stopMs, () => over.abort(), { background: true })
  for (const pauseMs of [...pausesMs, null]) {
    if ((await isAnswered(services, of, { id, signal: over.signal })) || pauseMs === null) break
    await new Promise<void>((resolve) => clock.after(pauseMs, resolve, { background: true }))
  }
  cancel()
}

/** Asks to stop a task. False if the same may be asked again: it cannot have arrived, or the server is busy. */
async function isAnswered(
  services: Omit<RemoteServices, 'abandon'>,
  { database, edge, from }: AbandonedCall,
  { id, signal }: { readonly id: string; readonly signal: AbortSignal },
): Promise<boolean> {
  try {
    const found = await services.find(edge, database, signal)
    if (!found.ok) return found.code !== 'REMOTE_UNREACHABLE'
    const about = { edge, from, database, caller: null, messageId: services.newId(), isMessage: false, contextId: null }
    const { bearer, extensions } = await services.sign(about)
    const request = { method: 'cancel' as const, params: { id }, bearer, extensions, signal }
    for await (const _ of requestRemote(services.fetch, found.endpoint, request)) return true
    return true
  } catch (error) {
    return signal.aborted || !(error instanceof UnreachableError || isBusy(error))
  }
}
