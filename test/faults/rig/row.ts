/** A row of the fault matrix: what it does to which store, how often, and what came of it. */
import type { Violation } from './checker.ts'
import type { Lane, LaneName } from './lane.ts'

/** `pr` on every change, `full` before a release. */
export type Profile = 'pr' | 'full'

/** What a row works with. */
export interface RowContext {
  readonly lane: Lane
  readonly profile: Profile
}

/** What a row came to. */
export interface RowResult {
  readonly trials: number
  readonly intended: number
  readonly fired: number
  readonly violations: readonly Violation[]
  /** From the death, or the freezing, of an owner to the first entry of the next. */
  readonly recoveriesMs: readonly number[]
  /** Counts that only this row has, such as late writes that were refused. */
  readonly counts: Readonly<Record<string, number>>
  /** The highest of figures that only this row has. */
  readonly peaks?: Readonly<Record<string, number>>
}

/** One row. */
export interface Row {
  readonly id: string
  readonly title: string
  readonly stores: readonly LaneName[]
  run(context: RowContext): Promise<RowResult>
}

/** A row on one store, as the report has it. */
export interface ReportLine {
  readonly id: string
  readonly title: string
  readonly store: LaneName
  readonly trials: number
  readonly faultsFired: number
  readonly faultsIntended: number
  readonly violations: readonly string[]
  readonly recoveryMs: { readonly p50: number; readonly p99: number } | null
  readonly counts: Readonly<Record<string, number>>
  readonly seconds: number
}

/** The so-manieth percentile of some figures; null of none. */
export function percentile(figures: readonly number[], part: number): number | null {
  const sorted = [...figures].sort((one, other) => one - other)
  return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? null
}

/** `F01 S 156 trials, 156 faults fired, 0 violations, recovery 40/95 ms`. */
export function lineOf(row: Pick<Row, 'id'>, store: LaneName, result: RowResult): string {
  const { trials, intended, fired, violations, recoveriesMs } = result
  const letter = { sqlite: 'S', postgres: 'P', memory: 'M' }[store]
  const recovery = [percentile(recoveriesMs, 0.5), percentile(recoveriesMs, 0.99)]
  const tail = recovery[0] === null ? '' : `, recovery p50/p99 ${recovery.join('/')} ms`
  const counts = Object.entries({ ...result.counts, ...result.peaks }).map(([name, count]) => `, ${name} ${count}`)
  const faults = fired >= intended ? `${fired}` : `${fired} of ${intended}`
  return `${row.id} ${letter} ${trials} trials, ${faults} faults fired, ${violations.length} violations${tail}${counts.join('')}`
}
