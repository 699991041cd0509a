/** What a step of a workflow reads: the workflow's input, and by `pass` the answers before it [C34]. */
import { stepsOf } from '@witan/protocol/edges'
import type { Workflow } from '@witan/protocol/entries'
import { attributed, jsonForModel, markForeign } from '../../model/attribution.ts'
import { cutTogether } from '../../parameter/scrub.ts'
import { workflowKindOf } from './next.ts'
import { type AnsweredStep, isAnswered, type WorkflowStep, type StepPlace } from './workflow-step.ts'

/** The message to a step: the input, and below it earlier answers, each with its speaker. Blocks are joined by an empty line; the longest answers are cut if they are too long in all. */
export function messageTo(
  workflow: Workflow,
  { index }: StepPlace,
  { input, steps }: { readonly input: string; readonly steps: readonly WorkflowStep[] },
): string {
  const to = stepsOf(workflow)[index]?.agent ?? ''
  const earlier = passed(workflow, index, steps)
  const texts = cutTogether(earlier.map(readOf))
  const blocks = earlier.map(({ agent, end }, at) => {
    const text = texts[at] ?? ''
    return end.isAttributed ? `[from @${agent} to @${to}] ${text}` : attributed(agent, to, text)
  })
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

function readOf({ end: { text, output, hasSchema, isAttributed } }: AnsweredStep): string {
  return !isAttributed && hasSchema && output !== null ? jsonForModel(output) : text
}

/** Words as a step reads them: what only looks like an attribution is marked, unless the runtime has written them. Several are cut if they are too long in all. */
export function inputText(words: readonly { readonly text: string; readonly isAttributed: boolean }[]): string {
  const all = words.map(({ text }) => text)
  const texts = all.length === 1 ? all : cutTogether(all)
  return texts.map((text, at) => (words[at]?.isAttributed === true ? text : markForeign(text))).join('\n\n')
}
