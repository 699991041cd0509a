/** What a step of a workflow reads: the workflow's input, and by `pass` the answers before it [C34]. */
import { stepsOf } from '@witan/protocol/edges'
import type { Workflow } from '@witan/protocol/entries'
import { attributed, jsonForModel, markForeign } from '../../model/attribution.ts'
import { workflowKindOf } from './next.ts'
import { type AnsweredStep, isAnswered, type WorkflowStep, type StepPlace } from './workflow-step.ts'

/** The message to a step: the input, and below it earlier answers, each with its speaker. Blocks are joined by an empty line. */
export function messageTo(
  workflow: Workflow,
  { index }: StepPlace,
  { input, steps }: { readonly input: string; readonly steps: readonly WorkflowStep[] },
): string {
  const to = stepsOf(workflow)[index]?.agent ?? ''
  const blocks = passed(workflow, index, steps).map((step) => blockOf(step, to))
  return [input, ...blocks].join('\n\n')
}

function passed(workflow: Workflow, index: number, steps: readonly WorkflowStep[]): readonly AnsweredStep[] {
  const { pass, agents } = workflow
  if (workflowKindOf(workflow).stepsRunAtOnce || pass === 'input') return []
  if (pass === 'previous') return steps.slice(-1).filter(isAnswered)
  const answered = steps.filter(isAnswered)
  return agents.flatMap((_, other) => {
    const latest = other === index ? undefined : answered.findLast((step) => step.index === other)
    return latest === undefined ? [] : [latest]
  })
}

function blockOf({ agent, end }: AnsweredStep, to: string): string {
  const { text, output, hasSchema, isAttributed } = end
  if (isAttributed) return `[from @${agent} to @${to}] ${text}`
  return attributed(agent, to, hasSchema && output !== null ? jsonForModel(output) : text)
}

/** Words as a step reads them: what only looks like an attribution is marked, unless the runtime has written them. */
export function inputText(words: readonly { readonly text: string; readonly isAttributed: boolean }[]): string {
  return words.map(({ text, isAttributed }) => (isAttributed ? text : markForeign(text))).join('\n\n')
}
