/** What a workflow does next: a pure function over the states of its children, one for each kind [C34]. */
import type { Workflow } from '@witan/protocol/entries'
import { loop } from './loop.ts'
import { parallel } from './parallel.ts'
import { sequence } from './sequence.ts'
import type { Next, WorkflowStep } from './workflow-step.ts'

/** A kind of workflow. */
interface WorkflowKind {
  next(workflow: Workflow, steps: readonly WorkflowStep[]): Next
  /** True if its steps run at the same time: each is a branch, and none reads the answer of another. */
  readonly stepsRunAtOnce?: true
  /** True if `exit_loop` in one of its steps ends it, and nothing around it. */
  readonly endsByExit?: true
}

const kinds: Readonly<Record<Workflow['kind'], WorkflowKind>> = {
  sequence: { next: sequence },
  parallel: { next: parallel, stepsRunAtOnce: true },
  loop: { next: loop, endsByExit: true },
}

/** What the engine knows of a workflow's kind. */
export function workflowKindOf({ kind }: Workflow): WorkflowKind {
  return kinds[kind]
}

/** What comes next, from the steps of the present pass in the order of their start. */
export function nextOf(workflow: Workflow, steps: readonly WorkflowStep[]): Next {
  return workflowKindOf(workflow).next(workflow, steps)
}
