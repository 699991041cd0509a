/**
 * Counters of usage as lists, for texts that are stored: their names are the same in every run. What a list lacks at its end is as usual:
 * nothing cached and no reasoning, the tokens of both kinds together, no known cost, nothing missing. Earlier versions stored all of it.
 */

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
  return hasFields(counters, counterFields) ? withoutUsual(Object.values(counters), usualCounters) : []
}

/** What was shortened, as it was; any other value as it is. */
export function longUsage(usage: unknown): unknown {
  if (!Array.isArray(usage)) return usage
  const [all, agents] = usage as [unknown[], [path: string, ...counters: unknown[]][]]
  const byAgent = Object.fromEntries(agents.map(([path, ...counters]) => [path, countersOf(counters)]))
  return { ...countersOf(all), byAgent }
}

function countersOf(list: readonly unknown[]): Fields {
  return named(counterFields, list, usualCounters)
}

/** The usage of one model call as a list; null for any other value. */
export function shortCall(usage: unknown): readonly unknown[] | null {
  return hasFields(usage, callFields) ? withoutUsual(Object.values(usage), usualCall) : null
}

/** What was shortened, as it was; any other value as it is. */
export function longCall(usage: unknown): unknown {
  return Array.isArray(usage) ? named(callFields, usage, usualCall) : usage
}

/** The usual values at the end of a list, which may follow from those before. */
type Usual = (list: readonly unknown[]) => readonly unknown[]

const usualCounters: Usual = ([, , input, output]) => [0, 0, (input as number) + (output as number), null, true]
const usualCall: Usual = () => [0, 0]

/** At least one value stays. */
function withoutUsual(list: readonly unknown[], usual: Usual): readonly unknown[] {
  const last = usual(list)
  const kept = list.length - last.length
  let length = list.length
  while (length > kept && list[length - 1] === last[length - 1 - kept]) length -= 1
  return length === list.length ? list : list.slice(0, length)
}

function named(fields: readonly string[], list: readonly unknown[], usual: Usual): Fields {
  const last = usual(list)
  const kept = fields.length - last.length
  const made: Record<string, unknown> = {}
  for (let at = 0; at < fields.length; at += 1) made[fields[at] ?? ''] = at < list.length ? list[at] : last[at - kept]
  return made
}
