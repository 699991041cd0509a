/** A parallel: all agents at once. It gives every answer, and fails only if every agent failed [Kb12]. */
import { quotesProvider, type Workflow } from '@witan/protocol/entries'
import { jsonLength } from '../../identity/json-length.ts'
import { markForeign } from '../../model/attribution.ts'
import { commonLength, cutTogether } from '../../parameter/scrub.ts'
import { answer, isAnswered, left, type Next, type StepEnd, type WorkflowStep, start } from './workflow-step.ts'

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
  const items = itemsOf(listed)
  return answer({
    text: items.map((item, at) => blockOf(item, listed[at]?.end ?? null)).join('\n\n'),
    output: items,
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

interface Item {
  readonly agent: string
  readonly text: string
  readonly output: unknown
  readonly error: string | null
}

/** Each answer or error. The longest texts are cut if they are too long in all; an output that would have to be cut is null. */
function itemsOf(steps: readonly WorkflowStep[]): readonly Item[] {
  const texts = cutTogether(steps.map(({ end }) => (end === null ? '' : 'text' in end ? end.text : end.error)))
  const lengths = steps.map((step) => (isAnswered(step) ? jsonLength(step.end.output) : 0))
  const most = commonLength(lengths)
  return steps.map((step, at): Item => {
    const text = texts[at] ?? ''
    if (!isAnswered(step)) return { agent: step.agent, text: '', output: null, error: text }
    const isShort = (lengths[at] ?? 0) <= most
    return { agent: step.agent, text, output: isShort ? step.end.output : null, error: null }
  })
}

function blockOf({ agent, text, error }: Item, end: StepEnd | null): string {
  if (error !== null) return `[from @${agent}] error: ${markForeign(error)}`
  return `[from @${agent}] ${end !== null && 'text' in end && end.isAttributed ? text : markForeign(text)}`
}
