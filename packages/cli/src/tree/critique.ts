/** What a critique says of an answer, as lines. */
import type { CallView } from '@witan/client'
import { cutText, oneLine } from './width.ts'

/** A piece of a line of the tree. */
interface Words {
  readonly text: string
  readonly tone: 'plain' | 'faint' | 'good' | 'wait'
}

const longestProblem = 200
const mostProblems = 3

/** `critique ✓` or `critique ↻ No price is named; …`: at most three problems. `by` is named if it is another agent. */
export function critiqueSpans(
  { verdict, problems, by }: CallView['critiques'][number],
  { name }: Pick<CallView, 'name'>,
): Words[] {
  const whose = by === name || by === '' ? '' : ` by ${oneLine(by)}`
  const about: Words = { text: `critique${whose} `, tone: 'faint' }
  if (verdict === 'pass') return [about, { text: '✓', tone: 'good' }]
  const shown = problems.slice(0, mostProblems).map((one) => cutText(oneLine(one), longestProblem))
  const more = problems.length - shown.length
  const words = `${shown.join('; ')}${more > 0 ? `; ${more} more` : ''}`
  return [about, { text: '↻ ', tone: 'wait' }, { text: words === '' ? 'to be revised' : words, tone: 'plain' }]
}
