/** A manager with three sub-agents. Whatever one of them is to know of another passes through the manager, in words. */
import { checkProcessModel, drawProcessModel } from '../model/tools.ts'
import { interviewing, managing, modelling, validating } from '../prompts.ts'
import { interviewerInWords } from '../scripts/interviewer.ts'
import { managerScript } from '../scripts/manager.ts'
import { modelerInWords } from '../scripts/modeler.ts'
import { validatorInWords } from '../scripts/validator.ts'
import { agentOf, asksAll, type ModelOf, type Setup } from './setup.ts'

export function manager(modelOf: ModelOf): Setup {
  const root = agentOf(modelOf, managerScript, {
    id: 'manager',
    description: 'Has a process discovered.',
    instructions: managing,
    subAgents: [
      { agent: 'manager-interviewer', description: 'Interviews people, and clears up what is in doubt.' },
      { agent: 'manager-modeler', description: 'Makes, changes and draws the process model.' },
      { agent: 'manager-validator', description: 'Checks a process model by its id, against what people say.' },
    ],
  })
  const interviewer = agentOf(modelOf, interviewerInWords, {
    id: 'manager-interviewer',
    description: 'Interviews people.',
    instructions: `${interviewing}\nAnswer with a summary of what they said.`,
    ...asksAll,
  })
  const modeler = agentOf(modelOf, modelerInWords, {
    id: 'manager-modeler',
    description: 'Makes process models.',
    instructions: `${modelling}\nDraw it only when you are told to; until then answer with the id of the model.`,
    artifacts: true,
    tools: [drawProcessModel],
  })
  const validator = agentOf(modelOf, validatorInWords, {
    id: 'manager-validator',
    description: 'Checks process models.',
    instructions: validating,
    artifacts: true,
    tools: [checkProcessModel],
  })
  return { name: 'manager', root: 'manager', agents: [root, interviewer, modeler, validator] }
}
