/** Folds the children of a workflow, and says what a workflow does next [C34]. */
import type { AgentEndBody, ErrorBody, Workflow } from '@witan/protocol/entries'
import { nextOf } from '../agent/workflow/next.ts'
import { inputText } from '../agent/workflow/pass.ts'
import type { Next, StepEnd } from '../agent/workflow/workflow-step.ts'
import { agentAnswer } from './callers-view.ts'
import { answerText } from './fold-hand-over.ts'
import { type AgentCall, callInControl, positionOf, type WorkflowState } from './state.ts'

/** A call whose agent is a workflow. */
export interface WorkflowCall extends AgentCall {
  readonly workflow: WorkflowState
}

/** Whether the agent of a call is a workflow. */
export function isWorkflow(call: AgentCall): call is WorkflowCall {
  return call.workflow !== null
}

/** The definition of a workflow. */
export function definitionOf({ agent }: WorkflowCall): Workflow {
  return agent.workflow as Workflow
}

/** Whether the next steps of a workflow begin a pass: its first one, or one more with the words that came meanwhile [E87]. */
export function beginsPass({ workflow, final }: WorkflowCall): boolean {
  return workflow.steps.length === 0 || final !== null
}

/** What a workflow does next. */
export function nextOfCall(call: WorkflowCall): Next {
  return nextOf(definitionOf(call), beginsPass(call) ? [] : call.workflow.steps)
}

/** The input of a pass that begins now: the waiting words as everybody may read them, or else the message to the call. */
export function passInput(call: WorkflowCall): string {
  const { inbox } = call.document
  const words = inbox.map(({ text, plain = text, isAttributed }) => ({ text: plain, isAttributed }))
  return inputText(words.length > 0 ? words : [{ text: call.message, isAttributed: positionOf(call).step !== null }])
}

/** Begins a pass with the words that wait for the workflow. */
export function beginPass(call: WorkflowCall): void {
  const input = passInput(call)
  if (call.final !== null) call.earlierAnswers = [...call.earlierAnswers, call.final.text]
  call.final = null
  call.workflow.input = input
  call.workflow.steps = []
}

/** Folds the start of a step. */
export function foldStepStart({ workflow }: WorkflowCall, { place, agent, step }: AgentCall): void {
  if (step === null) return
  workflow.steps = [...workflow.steps, { call: place.call, ...step, agent: agent.id, end: null }]
}

/** Folds the end of a step. The workflow has its answer once nothing more is to start. */
export function foldStepOver(parent: WorkflowCall, call: AgentCall, body: AgentEndBody | ErrorBody): void {
  const { workflow } = parent
  const end = endOf(call, body)
  workflow.steps = workflow.steps.map((step) => (step.call === call.place.call ? { ...step, end } : step))
  const next = nextOf(definitionOf(parent), workflow.steps)
  if (next.kind !== 'answer') return
  const { text, output, isAttributed, exits, isFallback } = next.answer
  const finishReason = next.isCut ? 'iteration_limit' : 'stop'
  parent.final = { text, finishReason, offered: true, output: { value: output }, isAttributed, exits, isFallback }
}

function endOf(call: AgentCall, body: AgentEndBody | ErrorBody): StepEnd {
  const given = agentAnswer(body, (text) => answerText(call, text))
  if ('error' in given) {
    const { error } = given
    return 'code' in body
      ? { error, detail: answerText(call, body.detail), code: body.code }
      : { error, detail: error, code: 'RUN_CANCELLED' }
  }
  const { isAttributed = false, exits = false, isFallback = false } = callInControl(call).final ?? {}
  return { ...given, hasSchema: call.agent.outputSchema !== null, isAttributed, exits, isFallback }
}
