/** Counters of usage as lists, for texts that are stored: their names are the same in every run. */

/** An object of any fields. */
export type Fields = Readonly<Record<string, unknown>>

/** The counters of a run or an agent, in their order, and those of one model call. */
const counterFields = [
  ...['modelCalls', 'toolCalls', 'inputTokens', 'outputTokens', 'cachedInputTokens', 'reasoningTokens', 'totalTokens'],
  ...['costUsd', 'complete'],
]
const usageFields = [...counterFields, 'byAgent']
const callFields = ['inputTokens', 'outputTokens', 'cachedInputTokens', 'reasoningTokens']

/** Whether a value has exactly these fields, in this order. */
export function hasFields(value: unknown, fields: readonly string[]): value is Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  const names = Object.keys(value)
  return names.length === fields.length && names.every((name, index) => name === fields[index])
}

/** Counters as a list, behind them those of each agent; null for any other value. */
export function shortUsage(usage: unknown): readonly unknown[] | null {
  if (!hasFields(usage, usageFields)) return null
  const { byAgent, ...all } = usage
  if (typeof byAgent !== 'object' || byAgent === null || Array.isArray(byAgent)) return null
  const agents = Object.entries(byAgent).map(([path, one]) => [path, ...listOf(one)])
  return agents.every(({ length }) => length > 1) ? [listOf(all), agents] : null
}

/** Empty for what has other fields. */
function listOf(counters: unknown): readonly unknown[] {
  return hasFields(counters, counterFields) ? Object.values(counters) : []
}

/** What was shortened, as it was; any other value as it is. */
export function longUsage(usage: unknown): unknown {
  if (!Array.isArray(usage)) return usage
  const [all, agents] = usage as [unknown[], [path: string, ...counters: unknown[]][]]
  const byAgent = Object.fromEntries(agents.map(([path, ...counters]) => [path, countersOf(counters)]))
  return { ...countersOf(all), byAgent }
}

function countersOf(list: readonly unknown[]): Fields {
  return Object.fromEntries(counterFields.map((name, index) => [name, list[index]]))
}

/** The usage of one model call as a list; null for any other value. */
export function shortCall(usage: unknown): readonly unknown[] | null {
  return hasFields(usage, callFields) ? Object.values(usage) : null
}

/** What was shortened, as it was; any other value as it is. */
export function longCall(usage: unknown): unknown {
  return Array.isArray(usage) ? Object.fromEntries(callFields.map((name, index) => [name, usage[index]])) : usage
}
