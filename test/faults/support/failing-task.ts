/** A task hands over to an agent whose first model call the budget refuses, so the task fails. */
import { call } from '@witan/core/testing'
import type { Store } from '@witan/core'
import type { FakeClock } from '../../support/clock.ts'
import { createStage, type Stage } from '../../support/stage.ts'

const agents = [
  { id: 'root', subAgents: [{ agent: 'clerk', blocking: 'never' as const }], limits: { maxModelCalls: 4 } },
  { id: 'clerk', transfers: [{ agent: 'target' }] },
  { id: 'target' },
]

/** A process in which the task is begun by the first prompt to `root`, or goes on. */
export function stageOfFailingTask(store: Store, clock: FakeClock): Stage {
  return createStage({
    agents,
    plays: {
      root: [call('clerk', { message: 'go' }), 'told', 'heard'],
      clerk: [call('transfer_to_agent', { agent_name: 'target' })],
      target: ['never asked'],
    },
    options: { store, clock },
  })
}
