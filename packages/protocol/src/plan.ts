/** Plans of agents: the bounds of their texts, and how their steps go on from one revision to the next. It loads no schema, so that a page of the Studio may read them. */

/** Where a step stands. At most one step of a plan is in progress. */
export const stepStatuses = ['pending', 'in_progress', 'completed', 'dropped'] as const
export type StepStatus = (typeof stepStatuses)[number]

/** The most characters of each text of a plan. */
export const planTexts = { id: 64, title: 300, note: 1000, reason: 1000 } as const

/** The tool that writes a plan. Its own calls belong to no step. */
export const planTool = 'update_plan'

/** A step as a model wrote it. */
export interface PlanStep {
  readonly id: string
  readonly title: string
  readonly status: StepStatus
  readonly note?: string | undefined
}
/** A revision of a plan: the list takes the place of the one before. */
export interface PlanBody {
  readonly revision: number
  readonly steps: readonly PlanStep[]
  /** Why it was written; absent if its model did not say. */
  readonly reason?: string | undefined
}
/** A step as readers see it. */
export interface ShownStep {
  readonly id: string
  readonly title: string
  readonly status: StepStatus
  readonly note: string | null
  /** The calls that began while it was in progress, in their order. It grows while the step is. */
  readonly calls: readonly string[]
}
/** A plan as readers see it. */
export interface Plan {
  readonly revision: number
  readonly steps: readonly ShownStep[]
}

/** Whether nothing of a step is left to do. */
export function isStepOver({ status }: Pick<PlanStep, 'status'>): boolean {
  return status === 'completed' || status === 'dropped'
}

/** Whether something of a plan is left to do. */
export function isOpen({ steps }: Pick<PlanBody, 'steps'>): boolean {
  return !steps.every(isStepOver)
}

/** A plan behind a revision, as readers see it: a step keeps the calls of the step of its id. */
export function revised(before: Plan | null, { revision, steps }: PlanBody): Plan {
  const calls = new Map(before?.steps.map((step) => [step.id, step.calls]))
  return {
    revision,
    steps: steps.map(({ id, title, status, note = null }) => ({ id, title, status, note, calls: calls.get(id) ?? [] })),
  }
}

/** Adds a call that begins now to the step that is in progress, if there is one. */
export function addCall(plan: Plan | null | undefined, call: string): void {
  const step = plan?.steps.find(({ status }) => status === 'in_progress')
  if (step !== undefined) (step.calls as string[]).push(call)
}

/** A plan as it is now: what is added to the other does not change it. */
export function planNow(plan: Plan | null): Plan | null {
  return plan === null ? null : { ...plan, steps: plan.steps.map((step) => ({ ...step, calls: [...step.calls] })) }
}
