/** Figures of many measurements, for the benchmarks that look at how they spread. */
export { type Figure, figureOf } from './measure.ts'

/** The value that this part of all (0 to 1) does not exceed; NaN of none. */
export function percentile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(sorted.length * part) - 1))] ?? Number.NaN
}
