/** Which model the agents use: one with a key from the environment, or a script that needs none. */
import { setTimeout as sleep } from 'node:timers/promises'
import { type Model, openaiCompatible } from '@witan/core'
import { type Rule, scriptedModel } from '@witan/core/testing'

/** Gives an agent its model: the real one if there is one, else its script. */
export type ModelFor = (agent: string, script: Rule) => Model

/** The variables that choose a model. */
export type Environment = Readonly<Record<string, string | undefined>>

/** Addresses that speak OpenAI's chat completions: the variable of the key, and the model unless `WITAN_MODEL_NAME` names another. */
const providers = [
  { name: 'openai', key: 'OPENAI_API_KEY', baseUrl: 'https://api.openai.com/v1', model: 'gpt-5-mini' },
  { name: 'anthropic', key: 'ANTHROPIC_API_KEY', baseUrl: 'https://api.anthropic.com/v1', model: 'claude-haiku-4-5' },
  {
    name: 'google',
    key: 'GOOGLE_GENERATIVE_AI_API_KEY',
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta/openai',
    model: 'gemini-flash-latest',
  },
] as const

/** The models of the agents. `paceMs`: how long a script waits before each reply, so that the tree can be watched while it grows. */
export function modelsOf(env: Environment, paceMs: number): ModelFor {
  const real = realModel(env)
  return (agent, script) =>
    real ??
    scriptedModel(paced(script, paceMs), {
      id: `scripted/desk-${agent}`,
      sleep: (ms, signal) => sleep(ms, undefined, { signal }),
    })
}

/** The same script, whose replies each take `paceMs`, or as many times that as they say. */
function paced(script: Rule, paceMs: number): Rule {
  return async (request, turn) => {
    const answer = await script(request, turn)
    if (answer === undefined || answer instanceof Error) return answer
    const reply = typeof answer === 'string' ? { text: answer } : answer
    return { ...reply, delayMs: paceMs * (reply.delayMs ?? 1) }
  }
}

function realModel(env: Environment): Model | null {
  if (env['WITAN_MODEL'] === 'openai-compatible') return ownServer(env)
  const provider = providers.find(({ key }) => (env[key] ?? '') !== '')
  if (provider === undefined) return null
  const { name, key, baseUrl } = provider
  const model = env['WITAN_MODEL_NAME'] ?? provider.model
  return openaiCompatible({ id: `${name}/${model}`, baseUrl, apiKey: env[key] ?? '', model })
}

/** Any other server: a local one, a gateway. */
function ownServer({ WITAN_BASE_URL: baseUrl, WITAN_MODEL_NAME: model, WITAN_API_KEY: apiKey }: Environment): Model {
  if (!baseUrl || !model) throw new Error('WITAN_MODEL=openai-compatible needs WITAN_BASE_URL and WITAN_MODEL_NAME.')
  return openaiCompatible({ id: `own/${model}`, baseUrl, model, ...(apiKey ? { apiKey } : {}) })
}
