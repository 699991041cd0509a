/** What a workflow does next: a pure function over the states of its children, one for each kind [C34]. */
import type { Workflow } from '@witan/protocol/entries'
import { loop } from './loop.ts'
import { parallel } from './parallel.ts'
import { sequence } from './sequence.ts'
import type { Next, Step } from './steps.ts'

const kinds = { sequence, parallel, loop } satisfies Record<
  Workflow['kind'],
  (of: Workflow, steps: readonly Step[]) => Next
>

/** What comes next, from the steps of the present pass in the order of their start. */
export function nextOf(workflow: Workflow, steps: readonly Step[]): Next {
  return kinds[workflow.kind](workflow, steps)
}
