/** Postings: which passages have a word. They are packed by the hundred in rows by base, word, group and passage. */
import type { Posting } from '../../../knowledge/ranking.ts'
import { packed, unpacked } from '../../postings.ts'
import { postingSql } from '../../sql/knowledge.ts'
import type { Statements } from '../sqlite-file.ts'

/** How many postings one row holds: such a row needs no page of its own. */
const mostPerRow = 100

/** Where the postings of a word are. */
interface WordPlace {
  readonly base: number
  readonly word: string
  readonly group: number
}

/** Adds postings in the order of their passages, inside a transaction. One that is there already is replaced. */
export function addPostings(statements: Statements, at: WordPlace, postings: readonly Posting[]): void {
  const { tuple, run } = statements
  const { base, word, group } = at
  for (let from = 0; from < postings.length; ) {
    const { passage } = postings[from] as Posting
    const row = tuple(postingSql.blockOf, base, word, group, passage) as unknown as readonly [number, Uint8Array] | null
    const end = (tuple(postingSql.firstBehind, base, word, group, passage)?.[0] as number | null) ?? null
    let to = from + 1
    while (to < postings.length && (end === null || (postings[to] as Posting).passage < end)) to += 1
    const added = postings.slice(from, to)
    if (row !== null) run(postingSql.delete, base, word, group, row[0])
    write(statements, at, row === null ? added : merged(unpacked(...row), added))
    from = to
  }
}

/** Removes the postings of some passages of a word, inside a transaction. */
export function removePostings(statements: Statements, at: WordPlace, passages: ReadonlySet<number>): void {
  const { tuple, run } = statements
  const { base, word, group } = at
  const left = new Set(passages)
  for (const passage of passages) {
    if (!left.has(passage)) continue
    const row = tuple(postingSql.blockOf, base, word, group, passage) as unknown as readonly [number, Uint8Array] | null
    if (row === null) continue
    const all = unpacked(...row)
    const kept = all.filter((one) => !passages.has(one.passage))
    for (const one of all) left.delete(one.passage)
    if (kept.length === all.length) continue
    run(postingSql.delete, base, word, group, row[0])
    write(statements, at, kept)
  }
}

function write({ run }: Statements, { base, word, group }: WordPlace, postings: readonly Posting[]): void {
  for (let from = 0; from < postings.length; from += mostPerRow) {
    const part = postings.slice(from, from + mostPerRow)
    run(postingSql.add, base, word, group, (part[0] as Posting).passage, packed(part))
  }
}

function merged(one: readonly Posting[], other: readonly Posting[]): readonly Posting[] {
  const last = one.at(-1)
  if (last === undefined || last.passage < (other[0]?.passage ?? 0)) return [...one, ...other]
  const all = new Map([...one, ...other].map((posting) => [posting.passage, posting]))
  return [...all.values()].sort((a, b) => a.passage - b.passage)
}
