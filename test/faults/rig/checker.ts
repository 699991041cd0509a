/** The one checker: every invariant by its name, over what clients know, the ledger, and what is stored in the end. */
import type { Evidence } from './evidence.ts'
import {
  checkAnswers,
  checkBudget,
  checkHidden,
  checkKeyed,
  checkLive,
  checkMemory,
  checkOnce,
  checkParity,
  checkTenants,
  checkVacuous,
} from './invariants-effects.ts'
import {
  checkAcknowledged,
  checkEpochs,
  checkOneEnd,
  checkOrder,
  checkSettled,
  checkText,
  checkTold,
  checkTree,
} from './invariants-log.ts'

/** What is wrong, in words. */
type Check = (evidence: Evidence) => readonly string[]

/** Every invariant of the fault plan. */
export const invariants = {
  I1: checkAcknowledged,
  I2: checkOrder,
  I3: checkOneEnd,
  I4: checkOnce,
  I5: checkKeyed,
  I6: checkSettled,
  I7: checkEpochs,
  I8: checkAnswers,
  I9: checkLive,
  I10: checkBudget,
  I11: checkTree,
  I12: checkText,
  I13: checkHidden,
  I14: checkTenants,
  I15: checkMemory,
  I16: checkParity,
  I17: checkVacuous,
  I18: checkTold,
} as const satisfies Record<string, Check>

/** The name of one. */
export type Invariant = keyof typeof invariants

/** One thing that must not be. */
export interface Violation {
  readonly invariant: Invariant
  readonly what: string
}

/** Everything that is wrong with the evidence; nothing for a good history. */
export function check(evidence: Evidence): readonly Violation[] {
  return Object.entries(invariants).flatMap(([invariant, find]) =>
    find(evidence).map((what) => ({ invariant: invariant as Invariant, what })),
  )
}
