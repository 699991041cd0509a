/** Groups: the documents of a base with the same attributes that were read in the same way. A filter selects groups, so a search reads nothing of the others. */
import { createHash } from 'node:crypto'
import type { Attributes } from '../../../knowledge/document.ts'
import { comparedAttributes, comparedValues, type KnowledgeScope } from '../../../knowledge/records.ts'
import { groupSql } from '../../sql/knowledge.ts'
import type { Statements } from '../sqlite-file.ts'
import type { Knowledge } from './open.ts'

/** The number of a base, which is made if there is none. */
export function madeBase(knowledge: Knowledge, database: string, id: string): number {
  return knowledge.baseOf(database, id) ?? (knowledge.tuple(groupSql.addBase, database, id)?.[0] as number)
}

/** The group of documents with these attributes that were read in this way, which is made if there is none. */
export function madeGroup(
  { tuple, run }: Statements,
  base: number,
  { attributes, reading }: { readonly attributes: Attributes; readonly reading: string },
): number {
  const compared = comparedAttributes(attributes)
  const digest = createHash('sha256')
    .update(JSON.stringify([reading, compared]))
    .digest('base64')
  const known = tuple(groupSql.find, base, digest)?.[0]
  if (known !== undefined) return known as number
  const group = tuple(groupSql.add, base, digest, reading)?.[0] as number
  for (const [name, values] of compared) for (const value of values) run(groupSql.addValue, base, name, value, group)
  return group
}

/** How much documents add to their group, or take from it. */
interface Change {
  readonly documents: number
  readonly passages: number
  readonly words: number
}

/** Counts what a group has; one without documents goes. */
export function changeGroup({ run }: Statements, group: number, { documents, passages, words }: Change): void {
  run(groupSql.change, group, documents, passages, words)
  if (documents >= 0) return
  run(groupSql.dropEmptyValues, group)
  run(groupSql.dropEmpty, group)
}

/** What a search sees of a base: all of it, or some groups. */
export interface SeenBase {
  readonly base: number
  /** Null: all. */
  readonly groups: ReadonlySet<number> | null
}

/** What scopes see together, each base once. */
export function seenBases(knowledge: Knowledge, database: string, scopes: readonly KnowledgeScope[]): SeenBase[] {
  const seen = new Map<number, ReadonlySet<number> | null>()
  for (const { base: id, filter } of scopes) {
    const base = knowledge.baseOf(database, id)
    if (base === null) continue
    const groups = filteredGroups(knowledge, base, filter)
    const known = seen.get(base)
    seen.set(base, groups === null || known === null ? null : new Set([...(known ?? []), ...groups]))
  }
  return Array.from(seen, ([base, groups]) => ({ base, groups }))
}

/** The groups whose attributes equal one of the values, for each name. */
function filteredGroups({ tuples }: Statements, base: number, filter: KnowledgeScope['filter']): Set<number> | null {
  if (filter.length === 0) return null
  const found = filter.map(({ name, values }) => {
    const rows = values.flatMap((value) => tuples(groupSql.withValue, base, name, ...comparedValues(value)))
    return new Set(rows.map(([group]) => group as number))
  })
  const [first = new Set<number>(), ...others] = found
  return new Set([...first].filter((group) => others.every((other) => other.has(group))))
}
