/** The record of used evidence, once the runtime is ready. */
import { evidenceNow, type EvidenceUse, forgetEvidence, useEvidence, usedWith } from '../store/used-evidence.ts'
import type { Parts } from './wiring.ts'

/** Which evidence was used: one record for all processes of the store. */
export interface UsedEvidence {
  /** Notes that evidence came with a message. False if it came with another one before. */
  use(of: EvidenceUse): Promise<boolean>
  /** The message that evidence came with; null for none. */
  usedWith(digest: string): Promise<string | null>
}

/** How often what has ended is forgotten. */
const forgetEveryMs = 60_000

/** The record of the store. Every method waits until the runtime is ready. */
export function usedEvidence({ store }: Parts, ready: () => Promise<void>): UsedEvidence {
  let forgotAt = Number.NEGATIVE_INFINITY
  return {
    async use(of) {
      await ready()
      const now = evidenceNow(store)
      if (Math.abs(now - forgotAt) >= forgetEveryMs) {
        forgotAt = now
        await forgetEvidence(store, now)
      }
      return useEvidence(store, of)
    },
    usedWith: (digest) => ready().then(() => usedWith(store, digest)),
  }
}
