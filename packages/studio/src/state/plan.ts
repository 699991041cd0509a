/** The plan of an agent in words. */
import type { CallView } from '@witan/client'
import { isStepOver, type StepStatus } from '@witan/protocol/plan'

/** Where a step stands, in a word. */
export const stepNames: Readonly<Record<StepStatus, string>> = {
  pending: 'to do',
  in_progress: 'in progress',
  completed: 'done',
  dropped: 'dropped',
}

/** How much of a plan is over, as `plan 1/3`; null without one. */
export function planWords({ plan }: Pick<CallView, 'plan'>): string | null {
  if (plan === null || plan.steps.length === 0) return null
  return `plan ${plan.steps.filter(isStepOver).length}/${plan.steps.length}`
}
