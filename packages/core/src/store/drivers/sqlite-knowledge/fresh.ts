/**
 * Postings that are not packed yet: those of forms that were stored lately. They are kept in memory, and can be made again from the passages of
 * forms that are `fresh`. Packing many at once writes each page of the index once, not once for each document.
 */
import type { Posting } from '../../../knowledge/ranking.ts'
import { readCounts } from '../../postings.ts'
import { documentSql, postingSql } from '../../sql/knowledge.ts'
import type { Statements } from '../sqlite-file.ts'
import { addPostings } from './postings.ts'

/** How many are kept before they are packed: about 10 MB. */
const mostFresh = 60_000
/** How many words are packed in one transaction: a few milliseconds. */
const wordsAtOnce = 200

/** A form, and the numbers of its passages. */
interface FreshForm {
  readonly form: number
  readonly last: number
  readonly base: number
  readonly group: number
}

interface Table {
  readonly forms: Set<number>
  /** By base and word, then by group, so that a search looks at those that it sees alone; then by passage. */
  readonly words: Map<string, Map<number, Map<number, Posting>>>
  size: number
}

/** Where postings of a word are. */
interface FreshPlace {
  readonly base: number
  readonly word: string
  readonly group: number
}

/** Postings that are not packed yet. */
export interface Fresh {
  /** Adds a passage of a form that is stored. `words` as `countedWords` gives them. */
  add(of: Omit<FreshForm, 'last'>, passage: number, words: string): void
  /** Those of these groups; null: of all. Others cost nothing. */
  of(place: Omit<FreshPlace, 'group'>, groups: ReadonlySet<number> | null): Iterable<Posting>
  /** Removes the postings of some passages of a word. */
  remove(place: FreshPlace, passages: Iterable<number>): void
  /** Removes all of a base. */
  drop(base: number): void
  /** Whether so many are kept that some are to be packed, or packing has begun. */
  isFull(): boolean
  /** Packs some, in one transaction. False if there is nothing to pack. */
  pack(transaction: (work: () => void) => void): boolean
}

function newTable(): Table {
  return { forms: new Set(), words: new Map(), size: 0 }
}

/** Reads the forms that are fresh. */
export function readFresh(statements: Statements): Fresh {
  let active = newTable()
  let packing: Table | null = null
  let order: string[] = []
  const tables = () => (packing === null ? [active] : [active, packing])
  const add: Fresh['add'] = ({ form, base, group }, passage, words) => {
    const counts = [...readCounts(words)]
    const length = counts.reduce((sum, [, count]) => sum + count, 0)
    active.forms.add(form)
    for (const [word, count] of counts) {
      const key = `${base} ${word}`
      const groups = active.words.get(key) ?? new Map<number, Map<number, Posting>>()
      if (groups.size === 0) active.words.set(key, groups)
      const known = groups.get(group)
      const posting = { passage, count, length }
      if (known === undefined) groups.set(group, new Map([[passage, posting]]))
      else known.set(passage, posting)
    }
    active.size += counts.length
  }
  for (const row of statements.tuples(postingSql.listFresh)) {
    const [form, last, base, group] = row as readonly [number, number, number, number]
    active.forms.add(form)
    for (const [number, words] of statements.tuples(documentSql.passages, form, last, last - form + 1))
      add({ form, base, group }, number as number, words as string)
  }
  const packWords = (table: Table, keys: readonly string[]) => {
    for (const key of keys) {
      const space = key.indexOf(' ')
      const place = { base: Number(key.slice(0, space)), word: key.slice(space + 1) }
      for (const [group, postings] of table.words.get(key) ?? [])
        addPostings(
          statements,
          { ...place, group },
          [...postings.values()].sort((one, other) => one.passage - other.passage),
        )
    }
  }
  return {
    add,
    *of({ base, word }, groups) {
      for (const { words } of tables()) {
        const all = words.get(`${base} ${word}`)
        if (all === undefined) continue
        for (const group of groups ?? all.keys()) yield* all.get(group)?.values() ?? []
      }
    },
    remove({ base, word, group }, passages) {
      for (const { words } of tables()) {
        const postings = words.get(`${base} ${word}`)?.get(group)
        if (postings !== undefined) for (const passage of passages) postings.delete(passage)
      }
    },
    drop(base) {
      for (const { words } of tables())
        for (const key of words.keys()) if (key.startsWith(`${base} `)) words.delete(key)
    },
    isFull: () => packing !== null || active.size >= mostFresh,
    pack(transaction) {
      if (packing === null) {
        if (active.forms.size === 0) return false
        packing = active
        active = newTable()
        order = [...packing.words.keys()].sort().reverse()
      }
      const table = packing
      const keys = order.slice(-wordsAtOnce)
      const isLast = keys.length === order.length
      transaction(() => {
        packWords(table, keys)
        if (isLast) for (const form of table.forms) statements.run(postingSql.dropFresh, form)
      })
      order.length -= keys.length
      for (const key of keys) table.words.delete(key)
      if (isLast) packing = null
      return true
    },
  }
}
