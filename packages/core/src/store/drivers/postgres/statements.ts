/** Statements with their values, each prepared once per connection, and the beginning of a transaction. */
import type { QueryConfig } from 'pg'
import { clock } from '../../sql/postgres/clock.ts'

/** A value of a statement. */
export type Value = string | number | boolean | null | Buffer | readonly (string | number | boolean | null)[]

/** A row with the columns of its statement. */
export type Row = Readonly<Record<string, unknown>>

/** A statement with `{s}` for the schema, and its values. */
export type Statement = readonly [sql: string, ...values: Value[]]

/** The scope of a transaction: one database (tenant), or table-wide in the worker role. */
export type TransactionScope = { readonly database: string } | 'worker'

/** Sets the role and the tenant for this transaction only, and selects the server's time. */
const enter = `select set_config('role', $1, true), set_config('witan.database', $2, true), ${clock} as now`

/** Builds the queries for one schema and its roles. */
export interface Statements {
  /** The two statements with which every transaction begins. */
  begin(place: TransactionScope, options: { readonly snapshot?: boolean }): (string | QueryConfig)[]
  all(queries: readonly Statement[]): QueryConfig[]
}

/** Gives each statement text one name, used on all connections. */
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

/** The statement with the schema's name filled in. */
export function inSchema(sql: string, schema: string): string {
  return sql.replaceAll('{s}', quoted(schema))
}

/** A quoted SQL identifier. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
