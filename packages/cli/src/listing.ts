/** Prints a list as a table, or as JSON for a program. */
import type { Given } from './command.ts'
import type { Column } from './table.ts'
import { tableLines } from './table.ts'
import type { Terminal } from './terminal.ts'
import { columnsOf, print, printJsonLine } from './terminal.ts'

/** What is listed, and what stands in the table's cells. */
interface Listing<Item> {
  readonly items: readonly Item[]
  readonly columns: readonly Column[]
  readonly cells: (item: Item) => readonly string[]
  readonly none: string
}

/** With `--json` one item a line. */
export function printList<Item>(terminal: Terminal, given: Given, listing: Listing<Item>): void {
  const { items, columns, cells, none } = listing
  if (given.has('json')) {
    for (const item of items) printJsonLine(terminal, item)
    return
  }
  if (items.length === 0) {
    print(terminal, none, terminal.errors)
    return
  }
  const width = columnsOf(terminal.output, Number.POSITIVE_INFINITY)
  for (const line of tableLines(columns, items.map(cells), width)) print(terminal, line)
}
