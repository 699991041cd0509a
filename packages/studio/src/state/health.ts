/** The figures of the health page: usage by day without gaps, sums, and the scale of a plot. Pure. */
import type { UsageItem } from '@witan/protocol/schemas'

/** What one day used. `costUsd` is null if the cost of a part is not known. */
export interface DayFigures {
  /** As `2026-11-25`, UTC. */
  readonly day: string
  readonly input: number
  readonly output: number
  readonly calls: number
  readonly costUsd: number | null
  readonly complete: boolean
}

/** The sum of days. `isCostWhole` is false if the cost of a part is not known: then the sum is a lower bound. */
export interface SumFigures {
  readonly tokens: number
  readonly calls: number
  readonly costUsd: number
  readonly isCostWhole: boolean
  readonly complete: boolean
}

const dayMs = 86_400_000

/** The first day of a period of this many days that ends today. */
export function firstDay(nowMs: number, count: number): string {
  return dayOf(nowMs - (count - 1) * dayMs)
}

function dayOf(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 10)
}

/** One figure for each of the days that end today; a day without any has zeros. */
export function daysOf(items: readonly UsageItem[], nowMs: number, count: number): DayFigures[] {
  const known = new Map(items.map((item) => [item.key, item]))
  return Array.from({ length: count }, (_, index) => {
    const day = dayOf(nowMs - (count - 1 - index) * dayMs)
    const item = known.get(day)
    if (item === undefined) return { day, input: 0, output: 0, calls: 0, costUsd: 0, complete: true }
    const { inputTokens: input, outputTokens: output, modelCalls: calls, costUsd, complete } = item
    return { day, input, output, calls, costUsd: calls === 0 ? 0 : costUsd, complete }
  })
}

/** Adds days up. */
export function sumOf(days: readonly DayFigures[]): SumFigures {
  return {
    tokens: days.reduce((sum, { input, output }) => sum + input + output, 0),
    calls: days.reduce((sum, { calls }) => sum + calls, 0),
    costUsd: days.reduce((sum, { costUsd }) => sum + (costUsd ?? 0), 0),
    isCostWhole: days.every(({ costUsd }) => costUsd !== null),
    complete: days.every(({ complete }) => complete),
  }
}

/** The end of a scale that holds the value: 1, 2 or 5 times a power of ten; 1 for nothing. */
export function scaleEnd(value: number): number {
  if (!(value > 0)) return 1
  const power = 10 ** Math.floor(Math.log10(value))
  const times = [1, 2, 5, 10].find((one) => value <= one * power * (1 + 1e-9)) ?? 10
  return times * power
}

/** `$0.0241`, `$12.40`; less than a hundredth of a cent is not nothing. */
export function formatCost(costUsd: number): string {
  if (costUsd === 0) return '$0'
  if (costUsd > 0 && costUsd < 0.0001) return '< $0.0001'
  return `$${costUsd.toFixed(costUsd < 1 ? 4 : 2)}`
}

/** The items with the most tokens first. */
export function byTokens(items: readonly UsageItem[]): UsageItem[] {
  return items.toSorted((one, other) => other.totalTokens - one.totalTokens)
}
