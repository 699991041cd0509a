/** What a set-up is: some agents, one of which gets the task. */
import { type Agent, type AgentDefinition, defineAgent, type Model } from '@witan/core'
import { type Rule, scriptedModel } from '@witan/core/testing'

export interface Setup {
  readonly name: string
  /** The id of the agent that gets the task. */
  readonly root: string
  readonly agents: readonly Agent[]
}

/** The model of an agent: a script, or the same model by name for all. */
export type ModelOf = (agent: string, script: Rule) => string | Model

/** Every agent plays its script; no language model is called. */
export const byScript: ModelOf = (agent, script) => scriptedModel(script, { id: `script/${agent}` })

/** Every agent uses this model, such as `openai/gpt-5-mini`. */
export const byModel =
  (name: string): ModelOf =>
  () =>
    name

/** One budget for every root, so that the set-ups compare; a model that goes round in circles costs no more than this. */
const limits = { maxIterations: 40, maxModelCalls: 120, maxTokens: 1_500_000, maxSeconds: 1_800 }

/** Defines an agent of a set-up, with its script as the model unless another one is wanted. */
export function agentOf(modelOf: ModelOf, script: Rule, definition: Omit<AgentDefinition, 'model'>): Agent {
  return defineAgent({ limits, ...definition, model: modelOf(definition.id, script) })
}

/** Which people an agent asks: those who take part. Their names stay hidden from its model. */
export const asksAll = { users: 'participants', anonymizeUsers: 'process worker' } as const
