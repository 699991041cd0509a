/** Lists as columns for a terminal. */
import type { Line, Span, Tone } from './tree/lines.ts'
import { cutLine } from './tree/lines.ts'
import { cutText, oneLine, textWidth } from './tree/width.ts'

/** One column: its heading and how its cells look. */
export interface Column {
  readonly title: string
  readonly tone?: Tone
  /** Whether its cells end below each other, as numbers do. */
  readonly isNumber?: boolean
}

const gap = 2
/** The last column is cut to no less than this; with less room it stands below its row. */
const leastLast = 30
const leastCell = 12
const below: Span = { text: '    ', tone: 'plain' }

/**
 * The rows under their headings, each column as wide as its widest cell. Where the terminal ends the last column is cut, or
 * stands below its row; then the widest of the others are cut, but never the first, which is what a command takes.
 */
export function tableLines(columns: readonly Column[], rows: readonly (readonly string[])[], width: number): Line[] {
  const table = [columns.map(({ title }) => title), ...rows.map((row) => row.map(oneLine))]
  const widths = columns.map((_, index) => table.reduce((most, row) => Math.max(most, textWidth(row[index] ?? '')), 0))
  const last = columns.length - 1
  const room = width - sumOf(widths.slice(0, last))
  const isBeside = last === 0 || room >= Math.min(leastLast, widths[last] ?? 0)
  const beside = isBeside ? widths : narrowed(widths.slice(0, last), width)
  return table.flatMap((row, at) => {
    const spanOf = (cell: string, index: number): Span => ({
      text: cell,
      tone: at === 0 ? 'faint' : (columns[index]?.tone ?? 'plain'),
    })
    const cells = beside.map((cell, index) => {
      const text = cutText(row[index] ?? '', cell)
      const span = spanOf(columns[index]?.isNumber === true ? atEnd(text, cell) : text, index)
      return index === beside.length - 1 ? span : padded(span, cell + gap)
    })
    const text = row[last] ?? ''
    const under = isBeside || text === '' ? [] : [cutLine([below, spanOf(text, last)], width)]
    return [cutLine(cells, width), ...under]
  })
}

/** The columns with the gap behind each. */
function sumOf(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width + gap, 0)
}

/** The widths, the widest of them smaller until all fit; the first stays as it is. */
function narrowed(widths: readonly number[], width: number): readonly number[] {
  const less = widths.map((cell, index) => (index === 0 ? cell : Math.min(cell, width)))
  while (sumOf(less) - gap > width) {
    const widest = less.indexOf(Math.max(...less.slice(1)), 1)
    if (widest < 0 || (less[widest] ?? 0) <= leastCell) break
    less[widest] = (less[widest] ?? 0) - 1
  }
  return less
}

function atEnd(text: string, width: number): string {
  return ' '.repeat(width - textWidth(text)) + text
}

function padded({ text, tone }: Span, width: number): Span {
  return { text: text + ' '.repeat(width - textWidth(text)), tone }
}
