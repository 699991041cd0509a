/** Lists as columns for a terminal. */
import type { Line, Span, Tone } from './tree/lines.ts'
import { cutLine } from './tree/lines.ts'
import { oneLine, textWidth } from './tree/width.ts'

/** One column: its heading and how its cells look. */
export interface Column {
  readonly title: string
  readonly tone?: Tone
}

const gap = 2

/** The rows under their headings, each column as wide as its widest cell; the last one is cut where the terminal ends. */
export function tableLines(columns: readonly Column[], rows: readonly (readonly string[])[], width: number): Line[] {
  const cells = rows.map((row) => row.map(oneLine))
  const widths = columns.map(({ title }, index) =>
    Math.max(textWidth(title), ...cells.map((row) => textWidth(row[index] ?? ''))),
  )
  const spans = (row: readonly string[], tone: (index: number) => Tone): Line => {
    const line = row.map((cell, index): Span => {
      const space = index === columns.length - 1 ? 0 : (widths[index] ?? 0) - textWidth(cell) + gap
      return { text: cell + ' '.repeat(space), tone: tone(index) }
    })
    return cutLine(line, width)
  }
  const head = spans(
    columns.map(({ title }) => title),
    () => 'faint',
  )
  return [head, ...cells.map((row) => spans(row, (index) => columns[index]?.tone ?? 'plain'))]
}
