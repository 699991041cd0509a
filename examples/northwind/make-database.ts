/** Makes the Northwind database, a SQLite file, from the schema and the rows in `data/`. */

import { createHash } from 'node:crypto'
import { existsSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { DatabaseSync } from 'node:sqlite'

/** The tables, each after those it refers to; the rows of `x` are in `data/x.jsonl`. */
const tableNames = [
  'regions',
  'territories',
  'employees',
  'employee_territories',
  'customers',
  'shippers',
  'suppliers',
  'categories',
  'products',
  'orders',
  'order_details',
] as const

type Cell = string | number | null
type Source = { schema: string; rows: Map<string, string>; fingerprint: number }

/**
 * Makes the database at `file` and says how many rows each table has. A file that was made from the same schema and
 * rows is left as it is, with whatever was written to it since; any other file there is replaced as a whole, so a
 * reader sees the old one or the new one and never a half. Throws when the rows break a reference.
 */
export function makeDatabase(file: string): { tables: Record<string, number> } {
  const source = readSource()
  const counts = countIfCurrent(file, source.fingerprint)
  if (counts) return { tables: counts }
  const draft = `${file}.${process.pid}.draft`
  try {
    rmSync(draft, { force: true })
    const tables = build(draft, source)
    // A log left by readers of the replaced file would be taken for the new one's.
    for (const suffix of ['-wal', '-shm', '-journal']) rmSync(file + suffix, { force: true })
    renameSync(draft, file)
    return { tables }
  } finally {
    rmSync(draft, { force: true })
  }
}

function readSource(): Source {
  const read = (name: string) => readFileSync(new URL(`./data/${name}`, import.meta.url), 'utf8')
  const schema = read('schema.sql')
  const rows = new Map(tableNames.map((table) => [table, read(`${table}.jsonl`)]))
  const hash = createHash('sha256').update(schema)
  for (const text of rows.values()) hash.update(text)
  // 31 bits, what `PRAGMA user_version` holds without a sign; never 0, which marks a file nobody stamped.
  return { schema, rows, fingerprint: hash.digest().readUInt32BE(0) >>> 1 || 1 }
}

/** The row counts of the database at `file`, or undefined when there is none or it was made from other data. */
function countIfCurrent(file: string, fingerprint: number): Record<string, number> | undefined {
  if (!existsSync(file)) return undefined
  const database = new DatabaseSync(file)
  try {
    const stamp = database.prepare('PRAGMA user_version').get()?.user_version
    return stamp === fingerprint ? countRows(database) : undefined
  } catch {
    // Not a database, or a broken one: replace it.
    return undefined
  } finally {
    database.close()
  }
}

function build(file: string, source: Source): Record<string, number> {
  const database = new DatabaseSync(file, { enableForeignKeyConstraints: false })
  try {
    database.exec('PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN')
    database.exec(source.schema)
    for (const [table, text] of source.rows) insertRows(database, table, text)
    const broken = database.prepare('PRAGMA foreign_key_check').all()
    if (broken.length > 0)
      throw new Error(`The rows in "data/" break ${broken.length} references: ${JSON.stringify(broken.slice(0, 3))}`)
    database.exec(`PRAGMA user_version = ${source.fingerprint}; COMMIT`)
    return countRows(database)
  } finally {
    database.close()
  }
}

/** Inserts the rows of a data file: JSON lines, the first the names of the columns, each other one the values of a row. */
function insertRows(database: DatabaseSync, table: string, text: string): void {
  const [columns = [], ...rows] = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Cell[])
  const insert = database.prepare(
    `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`,
  )
  for (const row of rows) insert.run(...row)
}

function countRows(database: DatabaseSync): Record<string, number> {
  const counts = tableNames.map((table) => [
    table,
    Number(database.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.n),
  ])
  return Object.fromEntries(counts)
}

if (import.meta.main) {
  const file = fileURLToPath(new URL('./northwind.db', import.meta.url))
  console.log(file)
  console.table(makeDatabase(file).tables)
}
