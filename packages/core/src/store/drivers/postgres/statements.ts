/** What is sent to the server: statements with their values, each prepared once on a connection, and how a transaction begins. */
import type { QueryConfig } from 'pg'
import { clock } from '../../sql/postgres/clock.ts'

/** What a statement may be given. */
export type Value = string | number | boolean | null | readonly (string | number | boolean | null)[]

/** A row as it comes; the columns are those of the statement. */
export type Row = Readonly<Record<string, unknown>>

/** A statement with `{s}` for the schema, and its values. */
export type Query = readonly [sql: string, ...values: Value[]]

/** As whom and where a transaction acts: in one database (tenant), or table-wide as the worker. */
export type Place = { readonly database: string } | 'worker'

/** The role and the tenant of this transaction and no longer, whoever has the connection next; and the server's clock. */
const enter = `select set_config('role', $1, true), set_config('witan.database', $2, true), ${clock} as now`

/** Makes what is sent, for one schema and its roles. */
export interface Statements {
  /** The two statements with which every transaction begins. */
  begin(place: Place, options: { readonly snapshot?: boolean }): (string | QueryConfig)[]
  all(queries: readonly Query[]): QueryConfig[]
}

/** Names every statement once: the name is that of its text on all connections. */
export function createStatements(at: {
  readonly schema: string
  readonly roles: { readonly app: string; readonly worker: string }
}): Statements {
  const prepared = new Map<string, { readonly name: string; readonly text: string }>()
  const prepare = (sql: string) => {
    const known = prepared.get(sql)
    if (known !== undefined) return known
    const made = { name: `witan_${prepared.size}`, text: inSchema(sql, at.schema) }
    prepared.set(sql, made)
    return made
  }
  return {
    begin(place, { snapshot = false }) {
      const values = place === 'worker' ? [at.roles.worker, ''] : [at.roles.app, place.database]
      const begin = snapshot ? 'begin isolation level repeatable read read only' : 'begin'
      return [begin, { ...prepare(enter), values }]
    },
    all: (queries) => queries.map(([sql, ...values]) => ({ ...prepare(sql), values: values as unknown[] })),
  }
}

/** The statement with the schema's name in its place. */
export function inSchema(sql: string, schema: string): string {
  return sql.replaceAll('{s}', quoted(schema))
}

/** A name as SQL has it. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
