/** The plan of an agent as lines: its steps, each behind a sign of where it stands. */
import type { CallView } from '@witan/client'
import { planTool, type StepStatus } from '@witan/protocol/plan'
import { oneLine } from './width.ts'

/** A piece of a line of the tree. */
interface Words {
  readonly text: string
  readonly tone: 'plain' | 'faint' | 'busy' | 'good'
}

const signs: Readonly<Record<StepStatus, Words>> = {
  pending: { text: '☐ ', tone: 'faint' },
  in_progress: { text: '◐ ', tone: 'busy' },
  completed: { text: '☑ ', tone: 'good' },
  dropped: { text: '☒ ', tone: 'faint' },
}

/** So that a plan leaves room for the calls below it. */
const mostSteps = 20

/** One line for each step, at most 20, with the note behind its title; none without a plan. */
export function planLines({ plan }: Pick<CallView, 'plan'>): (readonly Words[])[] {
  const steps = plan?.steps ?? []
  const lines = steps.slice(0, mostSteps).map(({ title, status, note }): readonly Words[] => {
    const isOpen = status === 'pending' || status === 'in_progress'
    const more = note === null ? [] : [{ text: `  ${oneLine(note)}`, tone: 'faint' } as const]
    return [signs[status], { text: oneLine(title), tone: isOpen ? 'plain' : 'faint' }, ...more]
  })
  const left = steps.length - lines.length
  return left > 0 ? [...lines, [{ text: `${left} more steps`, tone: 'faint' }]] : lines
}

/** `plan  ☑ Read the mail  ◐ Answer it  ☐ File it`, as one line. */
export function planSpans({ plan }: Pick<CallView, 'plan'>): readonly Words[] {
  const steps = plan?.steps ?? []
  return [
    { text: 'plan', tone: 'faint' },
    ...steps.flatMap(({ title, status }): Words[] => [
      { text: '  ', tone: 'plain' },
      signs[status],
      { text: oneLine(title), tone: 'plain' },
    ]),
  ]
}

/** Whether a tool call only wrote the plan, which is drawn itself. */
export function wrotePlan({ kind, name, state }: Pick<CallView, 'kind' | 'name' | 'state'>): boolean {
  return kind === 'tool' && name === planTool && state === 'completed'
}
