/** Which model the agents use: one with a key from the environment, or a script that needs none. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Model } from '@witan/core'
import { openaiCompatible } from '@witan/core'
import type { Rule } from '@witan/core/testing'
import { scriptedModel } from '@witan/core/testing'

/** A place that speaks OpenAI's chat completions, and a model there. */
interface Provider {
  readonly name: string
  readonly baseUrl: string
  readonly apiKey: string | undefined
  readonly model: string
}

const { env } = process

/** In this order; WITAN_MODEL_NAME names another model of the same provider. */
const providers: readonly Provider[] = [
  { name: 'openai', baseUrl: 'https://api.openai.com/v1', apiKey: env.OPENAI_API_KEY, model: 'gpt-5-mini' },
  {
    name: 'anthropic',
    baseUrl: 'https://api.anthropic.com/v1',
    apiKey: env.ANTHROPIC_API_KEY,
    model: 'claude-haiku-4-5',
  },
  {
    name: 'google',
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta/openai',
    apiKey: env.GOOGLE_GENERATIVE_AI_API_KEY,
    model: 'gemini-flash-latest',
  },
]

const real = realModel()

/** The model of one agent: the real one if there is a key, else the agent's own script. */
export function modelFor(agent: string, script: Rule): Model {
  return (
    real ??
    scriptedModel(paced(script), { id: `scripted/${agent}`, sleep: (ms, signal) => sleep(ms, undefined, { signal }) })
  )
}

/** So that the tree can be watched while it grows; NORTHWIND_PACE_MS=0 is for tests. */
const paceMs = Number(env.NORTHWIND_PACE_MS ?? 220)

function paced(script: Rule): Rule {
  return async (request, turn) => {
    const answer = await script(request, turn)
    if (answer === undefined || answer instanceof Error) return answer
    return typeof answer === 'string' ? { text: answer, delayMs: paceMs } : { delayMs: paceMs, ...answer }
  }
}

function realModel(): Model | null {
  if (env.WITAN_MODEL === 'openai-compatible') return ownServer()
  const provider = providers.find(({ apiKey }) => apiKey !== undefined && apiKey !== '')
  if (provider === undefined) return null
  const { name, baseUrl, apiKey = '' } = provider
  const model = env.WITAN_MODEL_NAME ?? provider.model
  return openaiCompatible({ id: `${name}/${model}`, baseUrl, apiKey, model })
}

/** Any other server: a local one, a gateway. */
function ownServer(): Model {
  const { WITAN_BASE_URL: baseUrl, WITAN_MODEL_NAME: model, WITAN_API_KEY: apiKey } = env
  if (!baseUrl || !model) throw new Error('WITAN_MODEL=openai-compatible needs WITAN_BASE_URL and WITAN_MODEL_NAME.')
  return openaiCompatible({ id: `own/${model}`, baseUrl, model, ...(apiKey ? { apiKey } : {}) })
}
