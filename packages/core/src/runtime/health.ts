/** Checks that a process can take work: its store can be written, and it gets the notifications of other processes. */
import { isWitanError, WitanError } from '@witan/protocol'
import type { Parts } from './wiring.ts'

/** How long the result of a check is reused, in ms. */
const trialCountsMs = 1_000

/** The health check of one runtime. Concurrent callers share one trial of the store. */
export function createHealth(
  { store, listening, env }: Pick<Parts, 'store' | 'listening' | 'env'>,
  opened: () => Promise<void>,
): () => Promise<void> {
  let trial: Promise<void> | null = null
  const tryStore = () => {
    if (trial !== null) return trial
    const current = store.checkWritable()
    trial = current
    const forget = () => {
      trial = null
    }
    const keep = () => void env.clock.after(trialCountsMs, forget, { background: true })
    current.then(keep, keep)
    return current
  }
  return async () => {
    await opened()
    await tryStore().catch((cause: unknown) => {
      if (isWitanError(cause) && cause.code === 'SCHEMA_TOO_NEW') throw cause
      const hint = 'Check the log of this process, then the free space of the store and its server.'
      throw new WitanError('STORE_UNAVAILABLE', 'The store cannot be written.', { hint, cause })
    })
    const problem = listening.current?.problem() ?? null
    if (problem === null) return
    const hint = 'Check the log of this process, then the connection limits of the store’s server.'
    const detail = 'This process cannot receive notifications of other processes.'
    throw new WitanError('STORE_UNAVAILABLE', detail, { hint, cause: problem })
  }
}
