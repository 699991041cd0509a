/** The text format of Prometheus: counted values as lines. */

/** Counts values in ranges. */
export class Histogram {
  readonly bounds: readonly number[]
  readonly counts: number[]
  count = 0
  sum = 0

  constructor(bounds: readonly number[]) {
    this.bounds = bounds
    this.counts = bounds.map(() => 0)
  }

  observe(value: number): void {
    this.count += 1
    this.sum += value
    const at = this.bounds.findIndex((bound) => value <= bound)
    if (at >= 0) this.counts[at] = (this.counts[at] ?? 0) + 1
  }
}

/** Names of labels and their values. */
type Labels = Readonly<Record<string, string>>

/** The lines before the samples of a name. */
export function head(name: string, type: 'counter' | 'gauge' | 'histogram', help: string): string[] {
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`]
}

/** The lines of a histogram. */
export function histogramLines(name: string, labels: Labels, { bounds, counts, count, sum }: Histogram): string[] {
  let below = 0
  const buckets = bounds.map((bound, index) => {
    below += counts[index] ?? 0
    return sample(`${name}_bucket`, { ...labels, le: String(bound) }, below)
  })
  return [
    ...buckets,
    sample(`${name}_bucket`, { ...labels, le: '+Inf' }, count),
    sample(`${name}_sum`, labels, sum),
    sample(`${name}_count`, labels, count),
  ]
}

/** One value. A label may hold any text. */
export function sample(name: string, labels: Labels, value: number): string {
  const written = Object.entries(labels).map(([label, text]) => `${label}="${escaped(text)}"`)
  return `${name}${written.length === 0 ? '' : `{${written.join(',')}}`} ${value}`
}

function escaped(text: string): string {
  return text.toWellFormed().replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
}
