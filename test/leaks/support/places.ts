/** The stores whose tables and notices a leak could reach. */
import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import { createTestDatabase } from '../../postgres/support/database.ts'
import { textOf } from './texts.ts'

/** A store that can be looked into from outside. */
export interface Place {
  readonly name: string
  readonly url: string
  /** All rows of all tables, by `table.column`; null where there are no tables. */
  columns(): Promise<ReadonlyMap<string, string>> | null
  /** What processes told each other so far; null where they do not. */
  notices(): string | null
  close(): Promise<void>
}

/** A store in memory: nothing of it can be looked into. */
export async function inMemory(): Promise<Place> {
  return { name: 'memory', url: 'memory:', columns: () => null, notices: () => null, close: async () => {} }
}

/** A SQLite file, and that of its knowledge. */
export async function inSqlite(path: string): Promise<Place> {
  const columns = async () => {
    const rows = [path, `${path}-knowledge`].flatMap((one) => {
      const database = new DatabaseSync(one)
      const tables = database.prepare("select name from sqlite_master where type = 'table'").all()
      const all = tables.map(({ name }): [string, readonly Record<string, unknown>[]] => [
        String(name),
        database.prepare(`select * from "${String(name)}"`).all(),
      ])
      database.close()
      return all
    })
    return byColumn(rows)
  }
  return { name: 'sqlite', url: `file:${path}`, columns, notices: () => null, close: async () => {} }
}

/** A PostgreSQL database, and what processes tell each other in it. */
export async function inPostgres(): Promise<Place> {
  const database = await createTestDatabase('')
  const ear = new pg.Client({ connectionString: database.adminUrl })
  await ear.connect()
  let heard = ''
  ear.on('notification', ({ payload = '' }) => {
    heard += `${payload}\n`
  })
  await ear.query('listen "witan_notices"')
  const columns = async () => {
    const tables = await database.execute("select schemaname, tablename from pg_tables where schemaname = 'witan'")
    const rows: [string, Record<string, unknown>[]][] = []
    for (const { tablename } of tables)
      rows.push([String(tablename), await database.execute(`select * from witan."${String(tablename)}"`)])
    return byColumn(rows)
  }
  const close = async () => {
    await ear.end()
    await database.drop()
  }
  return { name: 'postgres', url: database.adminUrl, columns, notices: () => heard, close }
}

function byColumn(tables: readonly (readonly [string, readonly Record<string, unknown>[]])[]): Map<string, string> {
  const columns = new Map<string, string>()
  for (const [table, rows] of tables)
    for (const row of rows)
      for (const [column, value] of Object.entries(row)) {
        const name = `${table}.${column}`
        columns.set(name, `${columns.get(name) ?? ''}\n${textOf(value)}`)
      }
  return columns
}
