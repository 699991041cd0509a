/** One agent does everything. */
import { checkProcessModel, drawProcessModel } from '../model/tools.ts'
import { checkingAlone, interviewing, modelling } from '../prompts.ts'
import { monolithicScript } from '../scripts/analyst.ts'
import { agentOf, asksAll, type ModelOf, type Setup } from './setup.ts'

export function monolithic(modelOf: ModelOf): Setup {
  const agent = agentOf(modelOf, monolithicScript, {
    id: 'monolithic',
    description: 'Discovers a process alone.',
    instructions: [interviewing, modelling, checkingAlone].join('\n\n'),
    ...asksAll,
    artifacts: true,
    tools: [checkProcessModel, drawProcessModel],
  })
  return { name: 'monolithic', root: 'monolithic', agents: [agent] }
}
