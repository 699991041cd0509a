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
  call.document.plans.set(call.agent.id, { revision: body.revision, body, unread: null })
}

/** What stands behind a summary: each agent of the document reads its own plan, unless it has worked without planning since. */
export function planLines({ plans, calls }: DocumentState): Words[] {
  return [...plans].flatMap(([agent, { body }]): Words[] => {
    if (body === null) return []
    const { revision, steps } = body
    const line = { kind: 'words', to: agent, scrub: null, ...lineFor(agent, 'plan', { revision, steps }) } as const
    const isRead = calls.some((call) => call.active && call.agent.id === agent)
    plans.set(agent, { revision, body, unread: isRead ? null : line })
    return [line]
  })
}

/** No agent has this name, so none reads a line that is for it alone. */
const nobody = ''

/**
 * An agent begins to work, or gets control back. One that does not plan any more has no plan: it is told nothing of the one that was, and begins
 * another once it plans again. What it has read stays as it is.
 */
export function takePlan({ agent, document }: AgentCall): void {
  const plan = document.plans.get(agent.id)
  if (plan === undefined) return
  const { revision, body, unread } = plan
  if (agent.enablePlanning) {
    if (unread !== null) document.plans.set(agent.id, { revision, body, unread: null })
    return
  }
  const at = unread === null ? -1 : document.said.indexOf(unread)
  if (at >= 0) document.said = document.said.with(at, { ...(unread as Words), only: nobody })
  document.plans.set(agent.id, { revision, body: null, unread: null })
}

/** What is left of an agent's plan in a document; undefined for nothing. */
export function openPlan(document: DocumentState | undefined, agent: AgentData): PlanBody | undefined {
  const plan = agent.enablePlanning ? document?.plans.get(agent.id)?.body : undefined
  return plan != null && isOpen(plan) ? plan : undefined
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
