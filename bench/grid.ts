/** A plain table of texts: aligned for a terminal and readable as Markdown. */

/** The first column is aligned to the left, as is every other that holds no number. */
export function gridOf(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [head, ...rows]
  const widths = head.map((_, column) => Math.max(3, ...all.map((row) => row[column]?.length ?? 0)))
  const isText = head.map((_, column) => column === 0 || rows.every((row) => !/^[\d–]/.test(row[column] ?? '')))
  const cell = (text: string, column: number) =>
    isText[column] ? text.padEnd(widths[column] ?? 0) : text.padStart(widths[column] ?? 0)
  const line = (row: readonly string[]) => `| ${head.map((_, column) => cell(row[column] ?? '', column)).join(' | ')} |`
  const rule = widths.map((width, column) => (isText[column] ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`))
  return [line(head), `| ${rule.join(' | ')} |`, ...rows.map(line)].join('\n')
}

/** As many digits as say something. */
export function short(value: number | null | undefined): string {
  if (value === null || value === undefined || Number.isNaN(value)) return '–'
  if (Math.abs(value) < 9.95) return value.toFixed(1)
  return Math.round(value).toLocaleString('en-US')
}
