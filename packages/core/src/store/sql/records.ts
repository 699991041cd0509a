/** The statements on records, for both databases, made from the declarations once for each. */
import { mostForgotten, type RecordTable } from '../record.ts'

/** How a database writes what differs. */
export interface Dialect {
  readonly schema: string
  readonly mark: '?' | '$'
  /** The column that keeps the order of rows. */
  readonly number: string
  readonly key: 'unique' | 'primary key'
  readonly text: string
  readonly integer: string
  /** Whether a value is, or is among, that of a parameter. */
  among(column: string, parameter: string): string
  /** Sets a column of the row with the id, parameter 2, to parameter 3, if that is later; or of several rows, from lists. */
  raise(table: string, column: string): string
}

/** The statements on one table. Parameter 1 is the database, unless something else is said. */
export interface RecordSql {
  /** The table and its indexes. */
  readonly create: string
  /** Takes the id and the columns, in the order of `storedRow`. Returns no row if the id or the secret is taken. */
  readonly insert: string
  /** The position of the row with an id. */
  readonly place: string
  /** The row with an id. */
  readonly get: string
  /** Rows before a position, `limit` of them, with certain values of the filters: see `listOf`. */
  readonly lists: readonly string[]
  /** The rows with the secret, or among the secrets, that parameter 1 is; with their `database`. */
  readonly find: string
  readonly raise: string
  /** Deletes rows that end before parameter 2. */
  readonly forget: string
  /** Returns a row if it was there. */
  readonly remove: string
}

/** The statements on every table, made on first use. */
export function recordStatements(dialect: Dialect): (table: RecordTable) => RecordSql {
  const known = new Map<RecordTable, RecordSql>()
  return (table) => {
    const found = known.get(table)
    if (found !== undefined) return found
    const sql = statementsOn(table, dialect)
    known.set(table, sql)
    return sql
  }
}

function statementsOn(table: RecordTable, { schema, mark, ...dialect }: Dialect): RecordSql {
  const name = `${schema}${table.name}`
  const names = ['id', ...Object.keys(table.columns)]
  const shown = names.map((one) => `${columnOf(one)} as "${one}"`).join(', ')
  const types = Object.entries({ id: 'text', ...table.columns }).map(([column, type]) => {
    const sql = type.startsWith('integer') ? dialect.integer : dialect.text
    return `${columnOf(column)} ${sql}${type.endsWith('?') ? '' : ' not null'}${column === table.secret ? ' unique' : ''}`
  })
  const sets = combinationsOf(table.filters)
  const indexes = sets.map((filters) => {
    const own = [table.name, 'by', ...(filters.length === 0 ? ['number'] : filters)].join('_')
    return `create index ${own} on ${name} (${['database', ...filters.map(columnOf), 'number'].join(', ')});`
  })
  const ends = table.until === undefined ? '' : `(database, ${columnOf(table.until)})`
  if (ends !== '') indexes.push(`create index ${table.name}_by_end on ${name} ${ends};`)
  const marks = ['database', ...names].map((_, index) => `${mark}${index + 1}`).join(', ')
  const one = `where database = ${mark}1 and id = ${mark}2`
  return {
    create: `
create table ${name} (
  number ${dialect.number},
  database ${dialect.text} not null check (database <> ''),
  ${types.join(',\n  ')},
  ${dialect.key} (database, id)
);
${indexes.join('\n')}
`,
    insert: `
insert into ${name} (database, ${names.map(columnOf).join(', ')}) values (${marks}) on conflict do nothing returning id`,
    place: `select number from ${name} ${one}`,
    get: `select ${shown} from ${name} ${one}`,
    lists: sets.map((filters) => {
      const wanted = filters.map((filter, index) => ` and ${columnOf(filter)} = ${mark}${index + 4}`).join('')
      return `
select ${shown} from ${name} where database = ${mark}1 and number < ${mark}2${wanted} order by number desc limit ${mark}3`
    }),
    find:
      table.secret === undefined
        ? ''
        : `select database, ${shown} from ${name} where ${dialect.among(columnOf(table.secret), `${mark}1`)}`,
    raise: table.latest === undefined ? '' : dialect.raise(name, columnOf(table.latest)),
    forget: table.until === undefined ? '' : forgetting(name, columnOf(table.until), mark),
    remove: `delete from ${name} ${one} returning id`,
  }
}

function forgetting(name: string, until: string, mark: string): string {
  const ended = `database = ${mark}1 and ${until} < ${mark}2 order by ${until} limit ${mostForgotten}`
  return `delete from ${name} where number in (select number from ${name} where ${ended})`
}

/** A column in SQL. */
export function columnOf(name: string): string {
  return `"${snakeCase(name)}"`
}

/** The name of a field as SQL writes it. */
export function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

/** All sets of filters. A filter is in a set if the bit of its place is in the place of the set. */
function combinationsOf(filters: readonly string[]): readonly (readonly string[])[] {
  let all: readonly (readonly string[])[] = [[]]
  for (const filter of filters) all = [...all, ...all.map((one) => [...one, filter])]
  return all
}

/** The statement for a page that asks for these values of the filters, and the values. */
export function listOf(
  { lists }: RecordSql,
  { filters }: RecordTable,
  where: Readonly<Record<string, unknown>>,
): { readonly list: string; readonly values: readonly unknown[] } {
  let set = 0
  const values: unknown[] = []
  for (const [place, filter] of filters.entries()) {
    if (where[filter] === undefined) continue
    set |= 1 << place
    values.push(where[filter])
  }
  return { list: lists[set] as string, values }
}
