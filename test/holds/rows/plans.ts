/** Plans that a model writes: lists and texts of any length, many of them in one reply. */
import type { Row } from '../support/row.ts'
import { run } from '../support/said.ts'

const step = (at: number, more: object = {}) => ({ id: `s${at}`, title: 'Look.', status: 'pending', ...more })
const steps = (count: number, more: object = {}) => Array.from({ length: count }, (_, at) => step(at, more))
const keys = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, 0]))

/** So many calls in one reply, with these arguments. */
function planned(what: string, count: number, args: () => object): Row {
  return {
    name: `a run with ${what}`,
    setUp: async (play) => {
      const calls = Array.from({ length: count }, () => ({ name: 'update_plan', arguments: JSON.stringify(args()) }))
      const agent = { enablePlanning: true, limits: { maxPlanSteps: 100, maxPlanRevisions: 1000 } }
      return run(play, { script: (at) => (at === 0 ? { calls } : { text: 'Done.' }), agent })
    },
  }
}

export const plans: readonly Row[] = [
  planned('a plan of 60,000 steps', 1, () => ({ steps: Array.from({ length: 60_000 }, () => ({})) })),
  planned('a plan of 100 steps with 700 unknown keys each', 1, () => ({ steps: steps(100, keys(700)) })),
  planned('a plan with a title of 0.9 MB', 1, () => ({ steps: [step(0, { title: 'a\n'.repeat(450_000) })] })),
  planned('128 plans of 60 steps in one reply', 128, () => ({ steps: steps(60, { note: 'x'.repeat(60) }) })),
]
