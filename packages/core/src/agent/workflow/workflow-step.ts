/** What the kinds of workflows share: the states of their children, and what comes next [C34]. */

/** One activation of an agent of a workflow. */
export interface WorkflowStep {
  /** Its place in the workflow's list, from 0. */
  readonly index: number
  /** The round of a loop, from 0; 0 in any other kind. */
  readonly round: number
  readonly agent: string
  /** Null while it runs. */
  readonly end: StepEnd | null
}

/**
 * How a step ended: with an answer, or with an error. `detail` may repeat what a model's server said: it is for errors with a code of
 * that kind alone.
 */
export type StepEnd = StepAnswer | { readonly error: string; readonly detail: string; readonly code: string }

/** What a step, or a workflow, has come to. */
export interface StepAnswer {
  readonly text: string
  readonly output: unknown
  /** Whether its agent has an output schema: then later steps read the output, not the text. */
  readonly hasSchema: boolean
  /** True if the runtime wrote the text and marked what it quotes. */
  readonly isAttributed: boolean
  /** True if it called `exit_loop`: everything up to the nearest loop is left, and the loop answers [C26]. */
  readonly exits: boolean
  /** True for what was answered beside an exit without text: any answer before it goes first. */
  readonly isFallback: boolean
}

/** A step to start. */
export type StepPlace = Pick<WorkflowStep, 'index' | 'round'>

/** What comes next: steps to start, a wait for those that run, the workflow's answer, or its failure. */
export type Next =
  | { readonly kind: 'start'; readonly steps: readonly StepPlace[] }
  | { readonly kind: 'wait' }
  | { readonly kind: 'answer'; readonly answer: StepAnswer; readonly isCut: boolean }
  | { readonly kind: 'fail'; readonly error: string; readonly code: string }

/** The next step to start. */
export function start(...steps: readonly StepPlace[]): Next {
  return { kind: 'start', steps }
}

/** The workflow's answer; `isCut` if a limit ended it. */
export function answer(of: StepAnswer, isCut = false): Next {
  return { kind: 'answer', answer: of, isCut }
}

/** A step that ended with an answer. */
export type AnsweredStep = WorkflowStep & { readonly end: StepAnswer }

/** Whether a step ended with an answer. */
export function isAnswered(step: WorkflowStep): step is AnsweredStep {
  return step.end !== null && 'text' in step.end
}

/** The answer of a workflow that `exit` leaves: its text if there is any, else the last answer of the `others` [C26]. */
export function left(exit: StepAnswer, others: readonly WorkflowStep[]): StepAnswer {
  const given = exit.text === '' || exit.isFallback ? others.findLast(isAnswered) : undefined
  return given === undefined ? exit : { ...given.end, exits: true }
}

/** The failure of a workflow because of a step, or of the last of its steps. */
export function failure({ agent, end }: WorkflowStep): Next {
  if (end === null || 'text' in end) return { kind: 'wait' }
  return { kind: 'fail', error: `\`${agent}\` failed: ${end.detail}`, code: end.code }
}
