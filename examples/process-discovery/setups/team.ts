/** Peers: two interviewers with people of their own, a modeler and a validator, who write to each other by protocols. */
import type { Agent } from '@witan/core'
import { checkProcessModel, drawProcessModel } from '../model/tools.ts'
import { interviewing, leading, modelling, validating } from '../prompts.ts'
import { interviewerByProtocol } from '../scripts/interviewer.ts'
import { modelerByProtocol } from '../scripts/modeler.ts'
import { validatorByProtocol } from '../scripts/validator.ts'
import { people } from '../world/people.ts'
import { agentOf, type ModelOf, type Setup } from './setup.ts'

const interviewers = ['office-interviewer', 'workshop-interviewer']

export function team(modelOf: ModelOf): Setup {
  const modeler = agentOf(modelOf, modelerByProtocol, {
    id: 'modeler',
    description: 'Makes process models.',
    instructions: [leading, modelling].join('\n\n'),
    artifacts: true,
    tools: [drawProcessModel],
    speaks: [
      { protocol: 'interview', role: 'initiator', peers: interviewers },
      { protocol: 'review', role: 'initiator', peers: ['validator'] },
    ],
  })
  const validator = agentOf(modelOf, validatorByProtocol, {
    id: 'validator',
    description: 'Checks process models.',
    instructions: validating,
    artifacts: true,
    tools: [checkProcessModel],
    speaks: [
      { protocol: 'review', role: 'responder', peers: ['modeler'] },
      { protocol: 'clarify', role: 'initiator', peers: interviewers },
    ],
  })
  const office = interviewerOf(modelOf, 'office', ['ines', 'tim', 'ruth'])
  const workshop = interviewerOf(modelOf, 'workshop', ['marek', 'olga'])
  return { name: 'team', root: 'modeler', agents: [modeler, validator, office, workshop] }
}

/** Aliases of two interviewers must not be mixed up, so each has a prefix of its own. */
function interviewerOf(modelOf: ModelOf, place: string, ids: readonly string[]): Agent {
  return agentOf(modelOf, interviewerByProtocol, {
    id: `${place}-interviewer`,
    description: `Interviews the people of the ${place}.`,
    instructions: interviewing,
    users: people.filter(({ id }) => ids.includes(id)).map(({ id, name, role }) => ({ id, name, roles: [role] })),
    anonymizeUsers: `${place} worker`,
    speaks: [
      { protocol: 'interview', role: 'responder', peers: ['modeler'] },
      { protocol: 'clarify', role: 'responder', peers: ['validator'] },
    ],
  })
}
