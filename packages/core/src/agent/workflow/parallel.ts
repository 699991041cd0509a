/** A parallel: all agents at once. It gives every answer, and fails only if every agent failed [Kb12]. */
import { quotesProvider, type Workflow } from '@witan/protocol/entries'
import { markForeign } from '../../model/attribution.ts'
import { answer, isAnswered, left, type Next, type WorkflowStep, start } from './workflow-step.ts'

/** What a parallel does next. */
export function parallel({ agents }: Workflow, steps: readonly WorkflowStep[]): Next {
  if (steps.length === 0) return start(...agents.map((_, index) => ({ index, round: 0 })))
  if (steps.some(({ end }) => end === null)) return { kind: 'wait' }
  const listed = steps.toSorted((one, other) => one.index - other.index)
  const exit = listed.filter(isAnswered).find(({ end }) => end.exits)
  if (exit !== undefined) {
    const beside = left(
      exit.end,
      listed.filter((step) => step !== exit),
    )
    return answer(beside === exit.end ? beside : { ...beside, isFallback: true })
  }
  if (!listed.some(isAnswered)) return allFailed(listed)
  const text = listed.map(blockOf).join('\n\n')
  return answer({
    text,
    output: listed.map(itemOf),
    hasSchema: false,
    isAttributed: true,
    exits: false,
    isFallback: false,
  })
}

function allFailed(steps: readonly WorkflowStep[]): Next {
  const failures = steps.flatMap(({ agent, end }) => (end !== null && 'error' in end ? [{ agent, ...end }] : []))
  const code = failures[0]?.code ?? 'TOOL_FAILED'
  const errors = failures.map((one) => `\`${one.agent}\`: ${quotesProvider(code) ? one.detail : one.error}`)
  return { kind: 'fail', error: `every agent failed: ${errors.join('; ')}`, code }
}

function blockOf({ agent, end }: WorkflowStep): string {
  if (end === null || 'error' in end) return `[from @${agent}] error: ${markForeign(end?.error ?? '')}`
  return `[from @${agent}] ${end.isAttributed ? end.text : markForeign(end.text)}`
}

function itemOf({ agent, end }: WorkflowStep) {
  if (end === null || 'error' in end) return { agent, text: '', output: null, error: end?.error ?? '' }
  return { agent, text: end.text, output: end.output, error: null }
}
