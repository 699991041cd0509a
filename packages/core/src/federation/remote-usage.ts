/** What a task elsewhere says that it has cost: read as the words of a stranger, and counted so that a sum never becomes smaller. */
import type { UsageCounters } from '@witan/protocol'
import { roundCost } from '@witan/protocol/entries'
import { fieldOf, isRecord } from './record.ts'

/** Beyond these a number is no usage: sums of it would lose their last digits. */
const mostCount = 1e12
const mostUsd = 1e9

const counts = ['modelCalls', 'toolCalls', 'inputTokens', 'outputTokens', 'totalTokens'] as const
const parts = ['cachedInputTokens', 'reasoningTokens', 'cacheWriteTokens'] as const

/** Usage without its parts by agent. Null for anything that is none, in whole or in part. */
export function readUsage(given: unknown): UsageCounters | null {
  if (!isRecord(given)) return null
  const read: Record<string, number> = {}
  for (const name of [...counts, ...parts]) {
    const value = fieldOf(given, name) ?? 0
    if (typeof value !== 'number' || !Number.isInteger(value) || value < 0 || value > mostCount) return null
    read[name] = value
  }
  const [costUsd, complete, priceDate] = ['costUsd', 'complete', 'priceDate'].map((name) => fieldOf(given, name))
  const cost = costUsd ?? null
  if (cost !== null && (typeof cost !== 'number' || !(cost >= 0 && cost <= mostUsd))) return null
  if (typeof complete !== 'boolean') return null
  const { modelCalls = 0, toolCalls = 0, inputTokens = 0, outputTokens = 0, cachedInputTokens = 0 } = read
  const { reasoningTokens = 0, cacheWriteTokens = 0, totalTokens = 0 } = read
  return {
    ...{ modelCalls, toolCalls, inputTokens, outputTokens, cachedInputTokens, reasoningTokens },
    totalTokens: Math.max(totalTokens, inputTokens + outputTokens),
    ...(cacheWriteTokens === 0 ? {} : { cacheWriteTokens }),
    costUsd: cost === null ? null : roundCost(cost),
    ...(typeof priceDate === 'string' && /^\d{4}-\d{2}-\d{2}$/.test(priceDate) ? { priceDate } : {}),
    complete,
  }
}

/** How two usages become one: number by number, and their costs, of which null is unknown. */
interface Combining {
  number(one: number, other: number): number
  cost(one: UsageCounters, other: UsageCounters): number | null
  readonly complete: boolean
}

/** The sum of two usages; null is nothing. */
export function sumOf(one: UsageCounters | null, other: UsageCounters | null): UsageCounters | null {
  if (one === null || other === null) return one ?? other
  const isUnknown = [one, other].some(({ costUsd, modelCalls }) => costUsd === null && modelCalls > 0)
  return combined(one, other, {
    number: (a, b) => a + b,
    cost: (a, b) => (isUnknown ? null : costsOf(a, b, (x, y) => x + y)),
    complete: one.complete && other.complete,
  })
}

/** What of a usage is not counted yet. It is nowhere below zero. */
export function restOf(all: UsageCounters, counted: UsageCounters | null): UsageCounters {
  if (counted === null) return all
  return combined(all, counted, {
    number: (a, b) => Math.max(0, a - b),
    cost: (a, b) => (a.costUsd === null ? null : Math.max(0, a.costUsd - (b.costUsd ?? 0))),
    complete: all.complete,
  })
}

/** What is known after one more report: what was said once is not taken back. */
export function largerOf(before: UsageCounters | null, now: UsageCounters): UsageCounters {
  if (before === null) return now
  return combined(before, now, { number: Math.max, cost: (a, b) => costsOf(a, b, Math.max), complete: now.complete })
}

function costsOf(one: UsageCounters, other: UsageCounters, of: Combining['number']): number | null {
  return one.costUsd === null && other.costUsd === null ? null : of(one.costUsd ?? 0, other.costUsd ?? 0)
}

function combined(one: UsageCounters, other: UsageCounters, by: Combining): UsageCounters {
  const of = (name: (typeof counts)[number] | (typeof parts)[number]) => by.number(one[name] ?? 0, other[name] ?? 0)
  const cost = by.cost(one, other)
  const written = of('cacheWriteTokens')
  const priceDate = one.priceDate ?? other.priceDate
  return {
    ...{ modelCalls: of('modelCalls'), toolCalls: of('toolCalls'), inputTokens: of('inputTokens') },
    ...{ outputTokens: of('outputTokens'), cachedInputTokens: of('cachedInputTokens') },
    ...{ reasoningTokens: of('reasoningTokens'), totalTokens: of('totalTokens') },
    ...(written === 0 ? {} : { cacheWriteTokens: written }),
    costUsd: cost === null ? null : roundCost(cost),
    ...(priceDate === undefined ? {} : { priceDate }),
    complete: by.complete,
  }
}
