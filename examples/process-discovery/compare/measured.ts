/** What is measured of a set-up. */
import type { RunResult } from '@witan/protocol'

export interface Measured {
  readonly setup: string
  readonly conversation: string
  readonly status: RunResult['status']
  /** Why it did not complete; null if it did. */
  readonly problem: string | null
  /** What the root said last. */
  readonly lastWords: string
  readonly agents: number
  readonly modelCalls: number
  readonly inputTokens: number
  readonly outputTokens: number
  /** Null where the price of the model is not known. */
  readonly costUsd: number | null
  /** Questions that a person got: one to five people is five. */
  readonly questions: number
  /** What agents wrote to each other, answers included. */
  readonly messages: number
  /** Saved versions of the model. */
  readonly versions: number
  /** Faults of some version that are not in the last one. */
  readonly faultsFound: number
  /** What is wrong with the last version; null if there is none. */
  readonly faultsLeft: readonly string[] | null
  readonly seconds: number
  readonly byAgent: RunResult['usage']['byAgent']
}

/** The faults that were there once and are gone, and those that are left. */
export function compareVersions(
  versions: readonly (readonly string[])[],
): Pick<Measured, 'faultsFound' | 'faultsLeft'> {
  const last = versions.at(-1) ?? null
  const gone = new Set(versions.flat().filter((fault) => last?.includes(fault) !== true))
  return { faultsFound: gone.size, faultsLeft: last }
}
