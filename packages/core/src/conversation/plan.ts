/** The plan that an agent keeps in a document [F08]. */
import type { AgentData } from '@witan/protocol'
import type { Entry, NoticeOf, PlanBody } from '@witan/protocol/entries'
import { isOpen, isStepOver, planTool } from '@witan/protocol/plan'
import { lineFor } from './line.ts'
import type { Words } from './said.ts'
import type { AgentCall, DocumentState, LiveJob } from './state.ts'

/** How often the plan of an agent was revised: in its document, and in this call of it. */
interface PlanStanding {
  readonly revision: number
  readonly revisions: number
}

/** Where the plan of a call's agent stands. */
export function planStanding({ agent, document, planRevisions }: AgentCall): PlanStanding {
  return { revision: document.plans.get(agent.id)?.revision ?? 0, revisions: planRevisions }
}

/** Folds a revision: it takes the place of the one before. It stands at the tool call that wrote it. */
export function foldPlan(run: LiveJob | null, { place, body }: Entry & { readonly type: 'plan' }): void {
  const call = run?.calls.get(place.parentCall ?? '')
  if (call === undefined) return
  call.planRevisions += 1
  call.document.plans.set(call.agent.id, body)
}

/** What stands behind a summary: each agent of the document reads its own plan. */
export function planLines({ plans }: DocumentState): Words[] {
  return [...plans].map(([agent, { revision, steps }]) => {
    return { kind: 'words', to: agent, scrub: null, ...lineFor(agent, 'plan', { revision, steps }) }
  })
}

/** What is left of an agent's plan in a document; undefined for nothing. */
export function openPlan(document: DocumentState | undefined, agent: AgentData): PlanBody | undefined {
  const plan = agent.enablePlanning ? document?.plans.get(agent.id) : undefined
  return plan !== undefined && isOpen(plan) ? plan : undefined
}

/** Whether a call that starts belongs to a step of its caller's plan: it is no hand-over, and does not write the plan. */
export function isOfStep({ kind, body }: Entry & { readonly type: 'start' }): boolean {
  return kind === 'agent' ? body.handedFrom === undefined : body.name !== planTool
}

/** What a person is told of a plan whose agent has answered. */
export function unfinishedPlan(call: AgentCall): NoticeOf<'PLAN_UNFINISHED'> | null {
  const plan = openPlan(call.document, call.agent)
  if (plan === undefined) return null
  const count = plan.steps.filter((step) => !isStepOver(step)).length
  const detail = `\`${call.agent.id}\` has answered; ${count} of ${plan.steps.length} steps of its plan are open.`
  return { code: 'PLAN_UNFINISHED', detail, count }
}
