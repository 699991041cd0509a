/** The models of a runtime: live models by name, others created from their connection. */
import { WitanError } from '@witan/protocol'
import type { Agent } from '../agent/define-agent.ts'
import type { AdminContext } from '../agent/admin/admin.ts'
import type { Clock } from '../identity/clock.ts'
import { randomNumber } from '../identity/ids.ts'
import { openaiCompatible } from '../model/adapters/openai-compatible.ts'
import type { Model } from '../model/model.ts'
import { withPrice, withTable } from '../model/price.ts'
import { priceTable } from '../model/price-table.ts'
import { createRateLimit, type RateLimit, withRateLimit } from '../model/rate-limit.ts'
import { withRetries } from '../model/retry.ts'
import type { Connection, RuntimeOptions } from './options.ts'

/** Finds models: live ones by name, others as `connection/model`, created once. Adds retries. */
export function modelDirectory(options: RuntimeOptions, clock: Clock) {
  const connections = new Map(Object.entries(options.connections ?? {}))
  const rateLimits = rateLimitsOf(connections, clock)
  const made = new Map<string, Model>()
  const sleep = sleeper(clock)
  const { prices: table = priceTable } = options
  const retried = (model: Model) => {
    const { totalMs: _, ...retry } = options.retry ?? {}
    const patient = withRetries(model, { ...retry, sleep, random: options.random ?? randomNumber })
    if (model.price !== undefined) return withPrice(patient, model.price)
    return table === null || model.listing === undefined ? patient : withTable(patient, model.listing, table)
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
    const connected = connect(connection, name, name.slice(slash + 1))
    const rateLimit = rateLimits.get(name.slice(0, slash))
    const model = retried(rateLimit === undefined ? connected : withRateLimit(connected, rateLimit))
    made.set(name, model)
    return model
  }
  const kindOf: AdminContext['modelKind'] = (name) => {
    const model = find(name)
    return model === null ? null : (model.kind ?? 'language')
  }
  return { find, kindOf, names, rateLimitOf: (connection: string) => rateLimits.get(connection) }
}

/** The rate limits of the connections that have bounds, by name. */
function rateLimitsOf(connections: ReadonlyMap<string, Connection>, clock: Clock): ReadonlyMap<string, RateLimit> {
  const rateLimits = new Map<string, RateLimit>()
  for (const [name, connection] of connections) {
    if (typeof connection === 'function') continue
    const { minIntervalMs = 0, maxConcurrent = null } = connection
    if (!Number.isInteger(minIntervalMs) || minIntervalMs < 0 || minIntervalMs > longestIntervalMs)
      throw wrongRate(`connections.${name}.minIntervalMs`, `a whole number of ms from 0 to ${longestIntervalMs}`)
    if (maxConcurrent !== null && (!Number.isInteger(maxConcurrent) || maxConcurrent < 1))
      throw wrongRate(`connections.${name}.maxConcurrent`, 'a whole number of at least 1, or null')
    if (minIntervalMs > 0 || maxConcurrent !== null)
      rateLimits.set(name, createRateLimit(clock, { minIntervalMs, maxConcurrent }))
  }
  return rateLimits
}

/** An hour: a longer interval is a mistake. */
const longestIntervalMs = 3_600_000

function wrongRate(path: string, form: string): WitanError {
  return new WitanError('CONFIG_INVALID', `\`${path}\` must be ${form}.`, { path, hint: 'Leave it out for no limit.' })
}

function sameModel(id: string): WitanError {
  return new WitanError('NAME_TAKEN', `Two models are named \`${id}\`, but agents find their model by that name.`, {
    path: 'agents',
    hint: 'Give each an `id` of its own, as in `scriptedModel(rules, { id: "demo/clerk" })`, or all agents the same object.',
  })
}

/** Waits on the runtime's clock; an abort ends the wait. */
export function sleeper(clock: Clock): (ms: number, signal: AbortSignal) => Promise<void> {
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
  const { baseUrl, apiKey, headers, prices = {}, maxOutputTokens, providerOptions, takes } = connection
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
    ...(takes === undefined ? {} : { takes }),
  })
}
