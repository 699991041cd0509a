/** Reads CSV: each row is a block that names its columns. */
import type { Reading } from './reading.ts'
import { rowText } from './reading.ts'

/** The first row names the columns. The separator is the most frequent of comma, semicolon and tab in it. */
export function* readCsv(source: string): Reading {
  let names: readonly string[] | null = null
  for (const cells of rowsOf(source, separatorOf(source))) {
    const text = rowText(names ?? [], cells)
    if (text === '') continue
    names ??= cells
    yield { kind: 'row', text }
  }
  return null
}

function separatorOf(text: string): string {
  const end = text.indexOf('\n')
  const line = text.slice(0, Math.min(end < 0 ? text.length : end, 10_000))
  const count = (sign: string) => line.split(sign).length
  return [',', ';', '\t'].reduce((best, sign) => (count(sign) > count(best) ? sign : best))
}

/** Rows of cells [RFC 4180]. A quote that nothing closes is a character like others, and so is each quote after it. */
function* rowsOf(text: string, separator: string): Generator<readonly string[]> {
  let cells: string[] = []
  let hasQuotes = true
  for (let at = 0; at < text.length; ) {
    const quoted = hasQuotes && text[at] === '"' ? quotedCell(text, at) : null
    if (quoted === 'open') hasQuotes = false
    const cell = quoted === null || quoted === 'open' ? plainCell(text, at, separator) : quoted
    // What stands between a closing quote and the next separator belongs to the cell.
    const rest = quoted === cell ? plainCell(text, cell.end, separator) : { text: '', end: cell.end }
    cells.push(cell.text + rest.text)
    if (text[rest.end] !== separator) {
      yield cells
      cells = []
    }
    at = rest.end + 1
  }
  if (cells.length > 0) yield cells
}

interface Cell {
  readonly text: string
  /** Where the separator or the line end stands that ends it. */
  readonly end: number
}

function plainCell(text: string, from: number, separator: string): Cell {
  let end = from
  while (end < text.length && text[end] !== separator && text[end] !== '\n') end += 1
  return { text: text.slice(from, end), end }
}

function quotedCell(text: string, from: number): Cell | 'open' {
  const parts: string[] = []
  for (let at = from + 1; ; ) {
    const close = text.indexOf('"', at)
    if (close < 0) return 'open'
    parts.push(text.slice(at, close))
    if (text[close + 1] !== '"') return { text: parts.join('"'), end: close + 1 }
    at = close + 2
  }
}
