/** A sequence: one agent after the other. It gives its last answer. */
import type { Workflow } from '@witan/protocol/entries'
import { answer, failure, isAnswered, left, type Next, type WorkflowStep, start } from './workflow-step.ts'

/** What a sequence does next. `steps` are in the order of their start. */
export function sequence({ agents, onError }: Workflow, steps: readonly WorkflowStep[]): Next {
  const last = steps.at(-1)
  if (last === undefined) return start({ index: 0, round: 0 })
  if (last.end === null) return { kind: 'wait' }
  if (isAnswered(last) && last.end.exits) return answer(left(last.end, steps.slice(0, -1)))
  if (!isAnswered(last) && onError === 'stop') return failure(last)
  if (last.index + 1 < agents.length) return start({ index: last.index + 1, round: 0 })
  const given = steps.findLast(isAnswered)
  return given === undefined ? failure(last) : answer(given.end)
}
