/** A loop: a sequence again and again, until one of its agents leaves it or the rounds have run out. */
import type { Workflow } from '@witan/protocol/entries'
import {
  answer,
  failure,
  isAnswered,
  left,
  type Next,
  type WorkflowStep,
  type StepAnswer,
  start,
} from './workflow-step.ts'

/** What a loop does next. `steps` are in the order of their start. */
export function loop({ agents, onError, maxIterations }: Workflow, steps: readonly WorkflowStep[]): Next {
  const last = steps.at(-1)
  if (last === undefined) return start({ index: 0, round: 0 })
  if (last.end === null) return { kind: 'wait' }
  if (isAnswered(last) && last.end.exits) return answer(withoutExit(left(last.end, steps.slice(0, -1))))
  if (!isAnswered(last) && onError === 'stop') return failure(last)
  const { index, round } = last
  if (index + 1 < agents.length) return start({ index: index + 1, round })
  if (round + 1 < maxIterations) return start({ index: 0, round: round + 1 })
  const given = steps.findLast(isAnswered)
  return given === undefined ? failure(last) : answer(withoutExit(given.end), true)
}

/** The answer of a loop. An exit ends at the nearest loop. */
function withoutExit(given: StepAnswer): StepAnswer {
  return { ...given, exits: false, isFallback: false }
}
