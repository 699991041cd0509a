/** One agent interviews and models, another one checks. They share files: the model and the minutes. */
import { checkProcessModel, drawProcessModel } from '../model/tools.ts'
import { havingChecked, interviewing, modelling, validating } from '../prompts.ts'
import { duoScript } from '../scripts/analyst.ts'
import { validatorInWords } from '../scripts/validator.ts'
import { agentOf, asksAll, type ModelOf, type Setup } from './setup.ts'

export function duo(modelOf: ModelOf): Setup {
  const analyst = agentOf(modelOf, duoScript, {
    id: 'duo',
    description: 'Discovers a process, and has its work checked.',
    instructions: [interviewing, modelling, havingChecked].join('\n\n'),
    ...asksAll,
    artifacts: true,
    tools: [drawProcessModel],
    subAgents: [{ agent: 'duo-validator', description: 'Checks a process model against minutes. Give it both ids.' }],
  })
  const validator = agentOf(modelOf, validatorInWords, {
    id: 'duo-validator',
    description: 'Checks process models.',
    instructions: validating,
    artifacts: true,
    tools: [checkProcessModel],
  })
  return { name: 'duo', root: 'duo', agents: [analyst, validator] }
}
