/** The models of a runtime: live models by name, others created from their connection. */
import { WitanError } from '@witan/protocol'
import type { Agent } from '../agent/define.ts'
import type { AdminContext } from '../agent/admin/admin.ts'
import type { Clock } from '../identity/clock.ts'
import { randomNumber } from '../identity/ids.ts'
import { openaiCompatible } from '../model/adapters/openai-compatible.ts'
import type { Model } from '../model/model.ts'
import { withPrice } from '../model/price.ts'
import { withRetries } from '../model/retry.ts'
import type { Connection, RuntimeOptions } from './options.ts'

/** Finds models: live ones by name, others as `connection/model`, created once. Adds retries. */
export function modelDirectory(options: RuntimeOptions, clock: Clock) {
  const connections = new Map(Object.entries(options.connections ?? {}))
  const made = new Map<string, Model>()
  const sleep = sleeper(clock)
  const retried = (model: Model) => {
    const { totalMs: _, ...retry } = options.retry ?? {}
    const patient = withRetries(model, { ...retry, sleep, random: options.random ?? randomNumber })
    return model.price === undefined ? patient : withPrice(patient, model.price)
  }
  const live = new Map(Object.entries(options.models ?? {}))
  for (const agent of options.agents ?? []) {
    const model = 'data' in agent ? (agent as Agent).model : null
    if (model === null || model === undefined) continue
    const known = live.get(model.id)
    if (known !== undefined && known !== model && (known.isUnique || model.isUnique)) throw sameModel(model.id)
    if (known === undefined) live.set(model.id, model)
  }
  for (const [name, model] of live) made.set(name, retried(model))
  const names = [...made.keys(), ...[...connections.keys()].map((name) => `${name}/…`)]
  const find = (name: string): Model | null => {
    const known = made.get(name)
    if (known !== undefined) return known
    const slash = name.indexOf('/')
    const connection = slash < 1 ? undefined : connections.get(name.slice(0, slash))
    if (connection === undefined || slash === name.length - 1) return null
    const model = retried(connect(connection, name, name.slice(slash + 1)))
    made.set(name, model)
    return model
  }
  const kindOf: AdminContext['modelKind'] = (name) => {
    const model = find(name)
    return model === null ? null : (model.kind ?? 'language')
  }
  return { find, kindOf, names }
}

function sameModel(id: string): WitanError {
  return new WitanError('NAME_TAKEN', `Two models are named \`${id}\`, but agents find their model by that name.`, {
    path: 'agents',
    hint: 'Give each an `id` of its own, as in `scriptedModel(rules, { id: "demo/clerk" })`, or all agents the same object.',
  })
}

/** Waits on the runtime's clock; an abort ends the wait. */
function sleeper(clock: Clock): (ms: number, signal: AbortSignal) => Promise<void> {
  return (ms, signal) =>
    new Promise((resolve, reject) => {
      const abort = () => {
        cancel()
        reject(signal.reason)
      }
      const cancel = clock.after(ms, () => {
        signal.removeEventListener('abort', abort)
        resolve()
      })
      signal.addEventListener('abort', abort, { once: true })
    })
}

function connect(connection: Connection, id: string, model: string): Model {
  if (typeof connection === 'function') return connection(model)
  const { baseUrl, apiKey, headers, prices = {}, maxOutputTokens, providerOptions } = connection
  const price = Object.hasOwn(prices, model) ? prices[model] : undefined
  return openaiCompatible({
    id,
    baseUrl,
    model,
    ...(price === undefined ? {} : { price }),
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(headers === undefined ? {} : { headers }),
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
    ...(providerOptions === undefined ? {} : { providerOptions }),
  })
}
