/** The table: one line per figure, one column per subject, aligned for a terminal and readable as Markdown. */
import type { Figure } from './measure.ts'

/** One line of the table. */
export interface Line {
  readonly id: string
  readonly title: string
  readonly unit: 'us' | 'ms' | 'KiB'
  /** By column. */
  readonly figures: Readonly<Record<string, Figure>>
}

/** The whole table. */
export function tableOf(lines: readonly Line[], columns: readonly string[]): string {
  const head = ['', '', '', ...columns]
  const rows = lines.map((line) => [
    line.id,
    line.title,
    unitOf(line.unit),
    ...columns.map((column) => cellOf(line.figures[column])),
  ])
  const widths = head.map((_, index) => Math.max(3, ...[head, ...rows].map((row) => row[index]?.length ?? 0)))
  const text = (row: readonly string[]) => `| ${row.map((cell, at) => padded(cell, at, widths[at] ?? 0)).join(' | ')} |`
  const rule = `| ${widths.map((width, at) => (at < 3 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`)).join(' | ')} |`
  return [text(head), rule, ...rows.map(text)].join('\n')
}

function unitOf(unit: Line['unit']): string {
  return unit === 'us' ? 'µs' : unit
}

function cellOf(figure: Figure | undefined): string {
  if (figure === undefined || Number.isNaN(figure.median)) return '–'
  if (figure.min === figure.max) return short(figure.median)
  return `${short(figure.median)} (${short(figure.min)}..${short(figure.max)})`
}

/** Three digits are more than the noise allows. */
function short(value: number): string {
  return value < 9.95 ? value.toFixed(1) : value.toFixed(0)
}

function padded(cell: string, column: number, width: number): string {
  return column < 3 ? cell.padEnd(width) : cell.padStart(width)
}
