/** Advances a workflow: starts its next steps, or fails it [C34]. */
import { type ErrorCode, problem } from '@witan/protocol'
import { stepsOf } from '@witan/protocol/edges'
import { workflowKindOf } from '../agent/workflow/next.ts'
import { messageTo } from '../agent/workflow/pass.ts'
import type { StepPlace } from '../agent/workflow/workflow-step.ts'
import { beginsPass, definitionOf, nextOfCall, passInput, type WorkflowCall } from '../conversation/workflow.ts'
import { bind } from '../parameter/bind.ts'
import type { Spawn } from '../tool/waiting.ts'
import { failRun, type Job } from '../job/job.ts'
import { failCall } from './settle.ts'
import { type ChildStart, startChild } from './spawn.ts'

/** Starts what comes next in the workflow of a call, or fails the call. */
export function advanceWorkflow(call: WorkflowCall, job: Job): void {
  const next = nextOfCall(call)
  if (next.kind === 'fail') failCall(call, job, { code: next.code as ErrorCode, detail: next.error, hint: failedHint })
  else if (next.kind === 'start') startSteps(call, job, next.steps)
}

const failedHint = 'Look at the step that failed; with `onError: "continue"` the workflow continues without it.'

/** Records the starts of steps, all or none. */
function startSteps(call: WorkflowCall, job: Job, places: readonly StepPlace[]): void {
  const most = Math.min(job.env.ceilings.maxDepth, job.run.tree.limits.maxDepth)
  if (call.depth >= most) {
    const detail = `The steps of \`${call.agent.id}\` would go deeper than ${most}.`
    return failCall(call, job, { code: 'DEPTH_EXCEEDED', detail, hint: 'Raise `maxDepth`, or nest less.' })
  }
  const isPass = beginsPass(call)
  const pass = isPass ? { input: passInput(call), steps: [] } : call.workflow
  const taken = call.document.inbox.length
  const starts: ChildStart[] = []
  for (const at of places) {
    const found = startOf(call, job, { at, message: messageTo(definitionOf(call), at, pass) })
    if (found === null) return
    const isFirst = isPass && starts.length === 0
    starts.push(isFirst ? { ...found, more: { ...found.more, passTakes: taken } } : found)
  }
  for (const one of starts) startChild(one, job)
}

/** The start of one step; null if the call, or the run, has failed because there can be none. */
function startOf(
  call: WorkflowCall,
  job: Job,
  { at, message }: { readonly at: StepPlace; readonly message: string },
): ChildStart | null {
  const { agent: workflow, place } = call
  const definition = definitionOf(call)
  const step = stepsOf(definition)[at.index]
  const pinned = step === undefined ? null : job.env.pinned(job.log.state.database, step.agent, job.run.revisions)
  if (step === undefined || pinned === null) {
    const detail = `Step \`${step?.agent}\` of \`${workflow.id}\` was deleted or disabled.`
    failCall(call, job, { code: 'AGENT_DISABLED', detail, hint: 'Enable it, or take it out of the workflow.' })
    return null
  }
  const { agent, map, history, toolMode } = step
  const { missing, generate } = bind(pinned.data.parameters, {
    parent: call.parameters,
    conversationValues: job.log.state.conversationValues,
    map,
  })
  const [lacking] = [...missing, ...generate]
  if (lacking !== undefined) {
    const detail = `\`${place.agentPath}/${agent}\` needs \`${lacking.name}\`: a workflow has no model that could supply it.`
    const hint = 'Pass it when starting the conversation.'
    failRun(job, problem('MISSING_AGENT_PARAMETER', detail, { path: `parameters.${lacking.name}`, hint }))
    return null
  }
  const overrides = toolMode === null ? {} : { overrides: { toolMode } }
  const child: Spawn = { agent, message, generated: null, map, history, ...overrides }
  const branch = workflowKindOf(definition).stepsRunAtOnce ? `${workflow.id}.${at.index}` : undefined
  const more = { toolCallId: null, step: { index: at.index, round: at.round } }
  return { parent: call, child, pinned, callId: job.env.ids.call(), parentCall: place.call, branch, more }
}
