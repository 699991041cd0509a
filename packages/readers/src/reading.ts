/** What a reader of one kind of file gives, and how it refuses a file. */
import type { Block } from '@witan/core/knowledge'

/** The blocks of a file, one by one; at the end its own title, if it has one. */
export type Reading = Generator<Block, string | null>

/** The same at once. */
export interface Found {
  readonly title: string | null
  readonly blocks: Iterable<Block>
}

/** A file that cannot be read. The message is a sentence for whoever ingests: it has no text of the file and no path of the server. */
export class UnreadableError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'UnreadableError'
  }
}

const mostName = 100

/** A row of a table as text: each value with the name of its column. Values that are blank are left out. */
export function rowText(names: readonly string[], cells: readonly string[]): string {
  const parts: string[] = []
  for (const [at, cell] of cells.entries()) {
    const value = cell.trim()
    const name = names[at]?.trim().slice(0, mostName) ?? ''
    if (value !== '') parts.push(name === '' ? value : `${name}: ${value}`)
  }
  return parts.join('; ')
}
