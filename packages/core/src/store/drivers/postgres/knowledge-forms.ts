/** What of documents on PostgreSQL several parts need: how forms are removed, and how values are compared. */
import { createHash } from 'node:crypto'
import { documentSql, groupSql } from '../../sql/postgres/knowledge.ts'
import type { Row, Statement } from './statements.ts'

/** Where a base is. */
export interface BasePlace {
  readonly database: string
  readonly base: string
}

/** A value as it is compared: a digest of it, since an index holds no long text. */
export function valueDigest(compared: string): string {
  return createHash('sha256').update(compared).digest('base64')
}

/** The statements that remove documents that were locked; with `isReplaced` only their forms. */
export function removeForms(
  { database, base }: BasePlace,
  rows: readonly Row[],
  { isReplaced = false }: { readonly isReplaced?: boolean } = {},
): Statement[] {
  if (rows.length === 0) return []
  const forms = rows.map(({ form }) => form as number)
  const groups = [...Map.groupBy(rows, ({ grp }) => grp as number)].sort(([one], [other]) => one - other)
  const sumOf = (of: readonly Row[], name: string) => of.reduce((sum, row) => sum + (row[name] as number), 0)
  return [
    [documentSql.hide, database, base, forms],
    ...documentSql.dropForms.map((sql) => [sql, database, base, forms] as const),
    ...(isReplaced ? [] : [[documentSql.delete, database, base, forms] as const]),
    ...groups.map(([group, of]) => {
      const less = [-of.length, -sumOf(of, 'passages'), -sumOf(of, 'words')] as const
      return [groupSql.change, database, base, group, ...less] as const
    }),
    ...(isReplaced ? [] : [[groupSql.dropEmpty, database, base, groups.map(([group]) => group)] as const]),
  ]
}
