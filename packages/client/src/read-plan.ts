/** Reads what events say of a plan. */
import { addCall, type Plan, type PlanBody, revised, stepStatuses } from '@witan/protocol/plan'
import type { Call } from './folded-call.ts'
import { isRecord, number, records, text } from './read-value.ts'

/** A plan behind a revision; the plan before if that is none. */
export function readPlan(before: Plan | null, given: unknown): Plan | null {
  if (!isRecord(given)) return before
  const steps = records(given.steps).flatMap(({ id, title, status, note }) => {
    const known = stepStatuses.find((one) => one === status)
    if (known === undefined) return []
    return [{ id: text(id), title: text(title), status: known, ...(typeof note === 'string' ? { note } : {}) }]
  })
  return revised(before, { revision: number(given.revision) ?? 0, steps } satisfies PlanBody)
}

/** Adds a call to the step that its caller is at. One that hands over, or writes a plan, belongs to none. */
export function addToPlan(caller: Call | undefined, { callId, handedFrom, name, kind }: Call): void {
  if (handedFrom === null && (kind === 'agent' || name !== 'update_plan')) addCall(caller?.plan, callId)
}
