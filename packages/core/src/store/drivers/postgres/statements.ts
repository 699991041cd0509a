/** Statements with their values, each prepared once per connection, and the beginning of a transaction. */
import type { QueryConfig } from 'pg'
import { clock } from '../../sql/postgres/clock.ts'
import { settingColumns } from './session-settings.ts'
import type { ConnectionSettings } from './settings.ts'

/** A value of a statement. */
export type Value = string | number | boolean | null | Buffer | readonly (string | number | boolean | null)[]

/** A row with the columns of its statement. */
export type Row = Readonly<Record<string, unknown>>

/** A statement with `{s}` for the schema, and its values. */
export type Statement = readonly [sql: string, ...values: Value[]]

/** The scope of a transaction: one database (tenant), or table-wide in the worker role. */
export type TransactionScope = { readonly database: string } | 'worker'

/**
 * Sets the role and the tenant for this transaction only, and selects the server's time, and the origin of what is stored: when the
 * server was started, and which row holds the version of the schema. Divides by zero if the schema works with later versions than
 * `$3` only. The read of the version holds up a migration until the transaction ends, and it waits for one.
 */
const enter = `select set_config('role', $1, true), set_config('witan.database', $2, true), ${clock} as now,
  (select pg_postmaster_start_time() || ' ' || v.xmin || ' ' || v.tableoid::bigint / case when v.works_from > $3 then 0 else 1 end
    from {s}.schema_version v) as origin`

/** The SQLSTATE of a transaction that was begun by a version that is too old. */
export const tooOldState = '22012'
/** Later than any version. */
const anyVersion = 2_147_483_647

/** Builds the queries for one schema and its roles. */
export interface Statements {
  /** The two statements with which every transaction begins. */
  begin(
    place: TransactionScope,
    options: { readonly snapshot?: boolean; readonly isForAnyVersion?: boolean },
  ): (string | QueryConfig)[]
  all(queries: readonly Statement[]): QueryConfig[]
}

/** Gives each statement text one name, used on all connections; none where a connection is shared with others. */
export function createStatements(
  at: Pick<ConnectionSettings, 'schema' | 'roles' | 'isShared' | 'timeouts' | 'version' | 'entersByRole'>,
): Statements {
  const { isShared, timeouts } = at
  const prepared = new Map<string, { readonly name?: string; readonly text: string }>()
  const first = isShared ? `${enter}, pg_backend_pid() as pid, ${settingColumns(timeouts, 'transaction')}` : enter
  const access = isShared ? ' read write' : '' // whoever had the connection may have left another default
  const prepare = (sql: string) => {
    const known = prepared.get(sql)
    if (known !== undefined) return known
    const text = inSchema(sql, at.schema)
    const made = isShared ? { text } : { name: `witan_${prepared.size}`, text }
    prepared.set(sql, made)
    return made
  }
  return {
    begin(place, { snapshot = false, isForAnyVersion = false }) {
      const [role, database] = place === 'worker' ? [at.roles.worker, ''] : [at.roles.app, place.database]
      const begin = snapshot ? 'begin isolation level repeatable read read only' : `begin${access}`
      const values = [role, database, isForAnyVersion ? anyVersion : at.version]
      return [at.entersByRole ? `${begin}; set local role ${quoted(role)}` : begin, { ...prepare(first), values }]
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
